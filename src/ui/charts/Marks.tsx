import { useXAxisScale, useYAxisScale } from 'recharts';

export interface Mark {
  readonly x: number;
  readonly y: number;
  /** SVG path around 0, 0. */
  readonly path: string;
}

/** ✕: an update was rejected. */
export const CROSS = 'M-4 -4l8 8m0 -8l-8 8';
/** ▲ over ✕: rejected, and above the axis. */
export const ABOVE = 'M0 -5l4 7h-8zM-4 5l8 8m0 -8l-8 8';

interface MarksProps {
  readonly marks: readonly Mark[];
  readonly color: string;
  /** Filled shapes, or strokes only. */
  readonly filled: boolean;
}

/** Marks of one series inside a Recharts chart, as a single path: a component for each would cost milliseconds. */
export function Marks({ marks, color, filled }: MarksProps) {
  const x = useXAxisScale();
  const y = useYAxisScale();
  if (x === undefined || y === undefined) return null;
  const d = marks
    .map((mark) => {
      const [left, top] = [x(mark.x), y(mark.y)];
      return left === undefined || top === undefined ? '' : placed(mark.path, left, top);
    })
    .join('');
  return (
    <path
      d={d}
      stroke={filled ? 'var(--mantine-color-body)' : color}
      strokeWidth={filled ? 1 : 2}
      fill={filled ? color : 'none'}
    />
  );
}

/** Absolute move-tos of `path` shifted; everything else in the shapes is relative. */
function placed(path: string, left: number, top: number): string {
  return path.replace(
    /M(-?[\d.]+) (-?[\d.]+)/g,
    (_, x: string, y: string) => `M${left + Number(x)} ${top + Number(y)}`,
  );
}
