/**
 * Static shape inference, best effort: numbers where they are known, symbols where two dimensions are known to be equal,
 * `undefined` where not even the rank is known. The differentiator uses it to avoid shape arithmetic at run time; where
 * it knows nothing, the derived graph computes shapes itself.
 */

import { MAX_SYMBOL_LENGTH, plausibleShape, type Shape } from './dims.ts';
import { INFERENCE_RULES } from './inferenceRules.ts';
import { constantsOf, type Dim, type Graph, numbersOf } from './ir.ts';
import { atNode } from './validate.ts';

export interface ShapeInfo {
  /** Shapes of values by name; a name without an entry has an unknown rank. */
  readonly shapes: ReadonlyMap<string, Shape>;
  /** Contents of integer scalars and vectors that are computed from shapes and constants. */
  readonly contents: ReadonlyMap<string, Shape>;
}

/** Largest integer constant whose content is tracked: shapes and axes are far smaller. */
const MAX_TRACKED = 64;

/**
 * Shapes of the values of `graph`, which `checkGraph` accepts. Throws `ModelError`, in the name of `model`, for a node
 * whose axes or sizes are impossible.
 */
export function inferShapes(graph: Graph, model: string): ShapeInfo {
  const shapes = new Map<string, Shape>();
  const contents = new Map<string, Shape>();
  let counter = 0;
  const fresh = () => `?${counter++}`;
  for (const input of graph.inputs) if (input.shape) shapes.set(input.name, input.shape);
  for (const [name, value] of constantsOf(graph)) {
    shapes.set(name, value.dims);
    const isInteger = value.type === 'int64' || value.type === 'int32';
    if (isInteger && value.dims.length <= 1 && value.bytes.length <= MAX_TRACKED * 8) {
      contents.set(name, numbersOf(value));
    }
  }
  for (const node of graph.nodes) {
    const content = (input: number) => contents.get(node.inputs[input] ?? '');
    const shape = (input: number) => shapes.get(node.inputs[input] ?? '');
    const ints = (input: number) => allNumbers(content(input));
    atNode(node, model, () => {
      const inferred = INFERENCE_RULES.get(node.op)?.({ node, shape, content, ints, fresh });
      inferred?.shapes.forEach((result, index) => {
        const name = node.outputs[index];
        if (result && name) shapes.set(name, plausibleShape(result, fresh));
      });
      const known = inferred?.content;
      if (known && known.length <= MAX_TRACKED) contents.set(node.outputs[0]!, trackable(known, fresh));
    });
  }
  return { shapes, contents };
}

/** `content` with what is no integer, such as a quotient by 0, or too long to track replaced by fresh symbols. */
function trackable(content: Shape, fresh: () => string): Shape {
  const isTrackable = (dim: Dim) =>
    typeof dim === 'number' ? Number.isSafeInteger(dim) : dim.length <= MAX_SYMBOL_LENGTH;
  return content.map((dim) => (isTrackable(dim) ? dim : fresh()));
}

function allNumbers(dims: Shape | undefined): number[] | undefined {
  return dims?.every((dim) => typeof dim === 'number') ? dims.map(Number) : undefined;
}
