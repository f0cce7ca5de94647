import { useApp } from '../store.ts';

/** Keys of the transport: as tooltips show them, and as aria-keyshortcuts wants them. */
export const keys = {
  step: { label: 'S', aria: 'S' },
  agent: { label: 'A', aria: 'A' },
  stage: { label: 'G', aria: 'G' },
  run: { label: 'Space', aria: 'Space' },
  reset: { label: 'Shift+R', aria: 'Shift+R' },
  back: { label: '[', aria: '[' },
  forward: { label: ']', aria: ']' },
} as const;

/** Acts on the transport's keys, except where keys mean something else: in fields, menus, dialogs, and Space on buttons. */
export function onShortcut(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target instanceof Element ? event.target : undefined;
  if (target?.closest('input, textarea, select, [role=dialog], [role=listbox]')) return;
  const { status, cursor, go, pause, reset, scrub } = useApp.getState();
  switch (event.key) {
    case 's':
      go('event');
      break;
    case 'a':
      go('agent');
      break;
    case 'g':
      go('stage');
      break;
    case ' ':
      if (target?.closest('button, summary, a, [role=slider], [role=tab]')) return;
      event.preventDefault();
      if (status === 'running') pause();
      else go('end');
      break;
    case 'R':
      reset();
      break;
    case '[':
      scrub(cursor - 1);
      break;
    case ']':
      scrub(cursor + 1);
      break;
  }
}
