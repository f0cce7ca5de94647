import { float } from '../builder.ts';
import { floatAttribute, intAttribute } from '../ir.ts';
import { dimOf, type Rule, type RuleContext, rankOf, unbroadcast } from './rule.ts';

/** Y = A B: dA = dY B^T, dB = A^T dY, summed over broadcast batch dimensions. */
const matmul: Rule = (c) => {
  const [a = '', b = ''] = c.node.inputs;
  const [rankA, rankB] = [rankOf(c, a), rankOf(c, b)];
  if (rankA < 2 || rankB < 2) {
    return c.fail(`an operand has rank ${Math.min(rankA, rankB)}`, 'unsqueeze vectors to matrices');
  }
  const batch = c.shape(c.node.outputs[0]!)?.slice(0, -2);
  const shapeLike = (name: string) => batch && [...batch, ...c.shape(name)!.slice(-2)];
  const da = () => unbroadcast(c, c.b.emit('MatMul', [c.dy, transposed(c, b, rankB)]), a, shapeLike(a));
  const db = () =>
    rankB === 2
      ? weightGradient(c, a, b)
      : unbroadcast(c, c.b.emit('MatMul', [transposed(c, a, rankA), c.dy]), b, shapeLike(b));
  return [c.wants(0) ? da() : undefined, c.wants(1) ? db() : undefined];
};

/** A^T dY for a matrix B [K, N], with all leading dimensions of A flattened into one sum. */
function weightGradient(c: RuleContext, a: string, b: string): string {
  const rows = (x: string, axis: number) => {
    const target = c.b.shared('Concat', [c.b.ints([-1]), dimOf(c, b, axis)], { axis: 0 });
    return c.b.emit('Reshape', [x, target]);
  };
  return c.b.emit('Gemm', [rows(a, 0), rows(c.dy, 1)], { transA: 1 });
}

function transposed(c: RuleContext, x: string, rank: number): string {
  const perm = Array.from({ length: rank }, (_, axis) => axis);
  [perm[rank - 1], perm[rank - 2]] = [rank - 2, rank - 1];
  return c.b.emit('Transpose', [x], { perm });
}

/** Y = alpha op(A) op(B) + beta C, op the identity or a transpose. */
const gemm: Rule = (c) => {
  const [a = '', b = '', bias = ''] = c.node.inputs;
  const transA = intAttribute(c.node, 'transA', 0);
  const transB = intAttribute(c.node, 'transB', 0);
  const alpha = float(floatAttribute(c.node, 'alpha', 1));
  const beta = floatAttribute(c.node, 'beta', 1);
  const product = (left: string, right: string, leftTransposed: number, rightTransposed: number) =>
    c.b.emit('Gemm', [left, right], { alpha, transA: leftTransposed, transB: rightTransposed });
  const da = () => (transA ? product(b, c.dy, transB, 1) : product(c.dy, b, 0, 1 - transB));
  const db = () => (transB ? product(c.dy, a, 1, transA) : product(a, c.dy, 1 - transA, 0));
  const dc = () => unbroadcast(c, beta === 1 ? c.dy : c.b.emit('Mul', [c.dy, c.b.float(beta)]), bias);
  return [c.wants(0) ? da() : undefined, c.wants(1) ? db() : undefined, c.wants(2) ? dc() : undefined];
};

export const MATMUL_RULES: Readonly<Record<string, Rule>> = { MatMul: matmul, Gemm: gemm };
