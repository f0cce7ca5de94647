import type { Kernels, Tensor } from '../../src/kernels/kernels.ts';

/** `kernels`, and how many of the tensors it has handed out have not been given back. */
export function countingKernels(kernels: Kernels): {
  readonly kernels: Kernels;
  readonly live: Map<Tensor, string>;
} {
  const live = new Map<Tensor, string>();
  const note = (operation: string, result: unknown) => {
    if (isTensor(result)) live.set(result, `${operation}: ${result.label}`);
    else if (typeof result === 'object' && result !== null && !(result instanceof Promise)) {
      for (const part of Object.values(result)) note(operation, part);
    }
  };
  const counting = new Proxy(kernels, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (key === 'release') for (const tensor of args) live.delete(tensor as Tensor);
        const result: unknown = Reflect.apply(member, target, args);
        if (key !== 'read') note(String(key), result);
        return result;
      };
    },
  });
  return { kernels: counting, live };
}

function isTensor(value: unknown): value is Tensor {
  return (
    typeof value === 'object' && value !== null && 'backend' in value && 'shape' in value && 'dtype' in value
  );
}
