import { Box } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { AlgorithmPanel } from './algorithm/AlgorithmPanel.tsx';
import classes from './app.module.css';
import { useApp } from './store.ts';

/** Space left above and below the lit line when it is brought into view, px. */
const MARGIN = 12;

/** Algorithm 1 in a box of its own, which keeps the lit line in view where the box is shorter than the algorithm. */
export function AlgorithmView() {
  const box = useRef<HTMLElement>(null);
  useEffect(
    () =>
      useApp.subscribe((state, before) => {
        if (state.cursor === before.cursor) return;
        // After React has lit the line.
        requestAnimationFrame(() => {
          if (box.current !== null) reveal(box.current);
        });
      }),
    [],
  );
  return (
    // In the tab order, because a keyboard must be able to scroll it.
    <Box
      component="section"
      ref={box}
      className={`${classes.panel} ${classes.algorithm}`}
      aria-label="Algorithm, scrollable"
      tabIndex={0}
    >
      <AlgorithmPanel />
    </Box>
  );
}

/** Scrolls the box, never the page, as little as needed to show the lit line. */
function reveal(box: HTMLElement): void {
  const lit = box.querySelector('[aria-current="step"]');
  if (lit === null || box.scrollHeight <= box.clientHeight) return;
  const [frame, line] = [box.getBoundingClientRect(), lit.getBoundingClientRect()];
  const above = line.top - MARGIN - frame.top;
  const below = line.bottom + MARGIN - frame.bottom;
  if (above < 0) box.scrollTop += above;
  else if (below > 0) box.scrollTop += below;
}
