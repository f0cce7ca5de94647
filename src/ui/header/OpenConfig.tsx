import { Button, FileButton, Group, Modal, Textarea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { ConfigError, type ConfigIssue } from '../../runs/configError.ts';
import { lengthIssue, readConfigFile } from '../configText.ts';
import { useApp } from '../store.ts';

/** Runs a config of the user's own: a YAML file, or pasted text. What was typed is kept if it cannot run. */
export function OpenConfig() {
  const [opened, { open, close }] = useDisclosure();
  const [text, setText] = useState('');
  /** Why the newest text was not taken. */
  const [refused, setRefused] = useState<ConfigIssue>();
  const loadConfig = useApp((state) => state.loadConfig);
  const take = (next: string) => {
    const tooLong = lengthIssue(next.length);
    if (tooLong === undefined) setText(next);
    setRefused(tooLong);
  };
  const takeFile = async (file: File) => {
    try {
      take(await readConfigFile(file));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      setRefused(error.issues[0]);
    }
  };
  return (
    <>
      <Button variant="default" size="sm" onClick={open}>
        Open config
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        title="Open a config"
        size="lg"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Textarea
          label="Config (YAML)"
          description="The same files that the command sat run takes. A file can also be dropped anywhere on the page. If the config is valid it replaces the run on screen."
          placeholder={'task:\n  name: doorway\nsat:\n  delta: 0.05'}
          autosize
          minRows={10}
          maxRows={20}
          value={text}
          onChange={(event) => take(event.currentTarget.value)}
          onPaste={(event) => {
            // Laying out megabytes would freeze the page, so they do not even get into the field.
            const pasted = event.clipboardData.getData('text');
            if (lengthIssue(pasted.length) === undefined) return;
            event.preventDefault();
            take(pasted);
          }}
          error={refused && `Not taken: given ${refused.given}; allowed: ${refused.allowed}`}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          data-autofocus
        />
        <Group justify="space-between" mt="md">
          <FileButton
            accept=".yaml,.yml,.json"
            onChange={(file) => {
              if (file !== null) void takeFile(file);
            }}
          >
            {(props) => (
              <Button variant="default" {...props}>
                Choose a file
              </Button>
            )}
          </FileButton>
          <Button
            disabled={text.trim() === ''}
            onClick={() => {
              loadConfig(text);
              close();
            }}
          >
            Run this config
          </Button>
        </Group>
      </Modal>
    </>
  );
}
