import { useEffect, useState } from 'react';
import { useApp } from './store.ts';

/** Runs a config file that is dropped anywhere on the page. Says whether one is being dragged over it. */
export function useConfigDrop(): boolean {
  const [dropping, setDropping] = useState(false);
  useEffect(() => {
    const isFile = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const over = (event: DragEvent) => {
      if (!isFile(event)) return;
      event.preventDefault();
      setDropping(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setDropping(false);
    };
    const drop = (event: DragEvent) => {
      if (!isFile(event)) return;
      event.preventDefault();
      setDropping(false);
      const file = event.dataTransfer?.files[0];
      if (file !== undefined) void useApp.getState().loadConfigFile(file);
    };
    window.addEventListener('dragover', over);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', over);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
    };
  }, []);
  return dropping;
}
