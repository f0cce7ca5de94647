import { type ReactNode, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';

interface LaterProps {
  /** Place in the queue, from 0. */
  readonly slot: number;
  /** Room kept until it is drawn, px. */
  readonly height: number;
  readonly children: ReactNode;
}

/** Time between two slots, ms: about one frame. */
const SLOT = 16;

/**
 * Draws its children in a task of their own, after those of lower slots. Several charts that change together would
 * otherwise block the page for as long as all of them take. Changes that come faster than they are drawn are skipped.
 */
export function Later({ slot, height, children }: LaterProps) {
  const [shown, setShown] = useState<ReactNode>(null);
  const newest = useRef(children);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    newest.current = children;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      // At once: React would otherwise gather the slots of a busy moment into one long task again.
      flushSync(() => setShown(newest.current));
    }, slot * SLOT);
  }, [children, slot]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return <div style={{ minBlockSize: height }}>{shown}</div>;
}
