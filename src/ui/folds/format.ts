/** Numbers as people read them. Missing and non-finite ones are a dash, never 0. */

const MISSING = '–';
const MINUS = '−';

/** Three significant digits: 0.0223, 12.3, 1 230, 4.5e−6. */
export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  const size = Math.abs(value);
  const text =
    size !== 0 && (size < 1e-4 || size >= 1e6)
      ? value.toExponential(1).replace('e+', 'e')
      : String(Number(value.toPrecision(3)));
  return text.replaceAll('-', MINUS);
}

/** A change this small is rounding of sums of order 1 in float64; written out it would look like news. */
const ROUNDING = 1e-13;

/** With its sign, for changes: +0.2, −0.1, 0. */
export function formatChange(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  if (Math.abs(value) < ROUNDING) return '0';
  return value > 0 ? `+${formatNumber(value)}` : formatNumber(value);
}

/** A share as per cent: 37.5 %. Small ones are not rounded away to 0: < 0.01 %. */
export function formatShare(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  return value > 0 && value < 1e-4 ? '< 0.01 %' : `${formatNumber(value * 100)} %`;
}

/** An estimate with its half-width where it has one: 0.42 ± 0.03. */
export function formatEstimate(estimate: { readonly value: number; readonly halfWidth: number }): string {
  const { value, halfWidth } = estimate;
  return halfWidth > 0 ? `${formatNumber(value)} ± ${formatNumber(halfWidth)}` : formatNumber(value);
}

/** A number of things, with the right ending: 1 state, 2 states. */
export function counted(count: number, thing: string): string {
  return `${formatNumber(count)} ${thing}${count === 1 ? '' : 's'}`;
}
