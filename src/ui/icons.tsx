import type { ReactNode } from 'react';

function Icon({ children }: { readonly children: ReactNode }) {
  return (
    <svg width="18" height="18" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

const lines = {
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: 2,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
} as const;

export const StepIcon = () => (
  <Icon>
    <path d="M7 5l8 7l-8 7zM16 5h2.5v14H16z" />
  </Icon>
);
export const AgentIcon = () => (
  <Icon>
    <path d="M4 5l7 7l-7 7zM11 5l7 7l-7 7zM18.5 5H21v14h-2.5z" />
  </Icon>
);
export const StageIcon = () => (
  <Icon>
    <path d="M5 4l8 8l-8 8z" />
    <path d="M16 4v16M20 4v16" {...lines} />
  </Icon>
);
export const RunIcon = () => (
  <Icon>
    <path d="M7 4l13 8l-13 8z" />
  </Icon>
);
export const PauseIcon = () => (
  <Icon>
    <path d="M6 4h4.5v16H6zM13.5 4H18v16h-4.5z" />
  </Icon>
);
export const ResetIcon = () => (
  <Icon>
    <path d="M4 4v6h6M5 10a8 8 0 1 1 -1 5" {...lines} />
  </Icon>
);
export const BackIcon = () => (
  <Icon>
    <path d="M15 5l-7 7l7 7" {...lines} />
  </Icon>
);
export const ForwardIcon = () => (
  <Icon>
    <path d="M9 5l7 7l-7 7" {...lines} />
  </Icon>
);
export const SunIcon = () => (
  <Icon>
    <path
      d="M12 8a4 4 0 1 0 0 8a4 4 0 0 0 0 -8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6l1.4 1.4M19 5l-1.4 1.4M6.4 17.6L5 19"
      {...lines}
    />
  </Icon>
);
export const MoonIcon = () => (
  <Icon>
    <path d="M20 14.5A8.5 8.5 0 0 1 9.5 4A8.5 8.5 0 1 0 20 14.5z" {...lines} />
  </Icon>
);
export const SystemIcon = () => (
  <Icon>
    <path d="M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0 -18z" {...lines} />
    <path d="M12 3a9 9 0 0 1 0 18z" />
  </Icon>
);
