/**
 * LU factorisation for the systems of policy evaluation, M = I - gamma P with P a stochastic matrix and gamma < 1.
 *
 * Written here because it is the only linear algebra the exact tasks need: a few hundred unknowns, a page of code. No
 * pivoting: M is strictly diagonally dominant by rows (1 - gamma P_ss > gamma sum of the other entries), and such
 * matrices are factorised stably in the given order. Off the diagonal M has no positive entry and elimination keeps it
 * so; solutions of non-negative right-hand sides are then sums of non-negative terms, so an occupancy never comes out
 * below 0.
 */

/** L (unit lower triangle) and U of a matrix, in one array [n * n]. */
export interface Factorisation {
  readonly n: number;
  readonly lu: Float64Array;
}

/** Factorises `matrix` [n * n], strictly diagonally dominant by rows, in place. */
export function factorise(matrix: Float64Array, n: number): Factorisation {
  for (let k = 0; k < n; k++) {
    const pivot = matrix[k * n + k]!;
    for (let row = k + 1; row < n; row++) {
      const factor = matrix[row * n + k]! / pivot;
      matrix[row * n + k] = factor;
      if (factor === 0) continue;
      for (let column = k + 1; column < n; column++) {
        matrix[row * n + column] = matrix[row * n + column]! - factor * matrix[k * n + column]!;
      }
    }
  }
  return { n, lu: matrix };
}

/** x with M x = b; b [n] is not changed. */
export function solve({ n, lu }: Factorisation, b: Float64Array): Float64Array {
  const x = b.slice();
  for (let row = 0; row < n; row++) {
    for (let k = 0; k < row; k++) x[row] = x[row]! - lu[row * n + k]! * x[k]!;
  }
  for (let row = n - 1; row >= 0; row--) {
    for (let k = row + 1; k < n; k++) x[row] = x[row]! - lu[row * n + k]! * x[k]!;
    x[row] = x[row]! / lu[row * n + row]!;
  }
  return x;
}

/** x with M^T x = b, i.e. U^T L^T x = b; b [n] is not changed. */
export function solveTransposed({ n, lu }: Factorisation, b: Float64Array): Float64Array {
  const x = b.slice();
  for (let row = 0; row < n; row++) {
    for (let k = 0; k < row; k++) x[row] = x[row]! - lu[k * n + row]! * x[k]!;
    x[row] = x[row]! / lu[row * n + row]!;
  }
  for (let row = n - 1; row >= 0; row--) {
    for (let k = row + 1; k < n; k++) x[row] = x[row]! - lu[k * n + row]! * x[k]!;
  }
  return x;
}
