interface MarkProps {
  readonly cx?: number | undefined;
  readonly cy?: number | null | undefined;
}

/** ✕ where an update was rejected; nothing where there is no value. */
export function RejectedMark({ cx, cy }: MarkProps) {
  if (cx === undefined || cy === undefined || cy === null || Number.isNaN(cy)) return <g />;
  return (
    <path
      d={`M${cx - 4} ${cy - 4}l8 8m0 -8l-8 8`}
      stroke="var(--c-bad)"
      strokeWidth="2"
      fill="none"
      data-testid="rejected-mark"
    />
  );
}
