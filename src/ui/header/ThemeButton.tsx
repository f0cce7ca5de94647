import { ActionIcon, type MantineColorScheme, Tooltip, useMantineColorScheme } from '@mantine/core';
import { MoonIcon, SunIcon, SystemIcon } from '../icons.tsx';

const schemes = {
  auto: { label: 'Theme: as the system', next: 'light', icon: <SystemIcon /> },
  light: { label: 'Theme: light', next: 'dark', icon: <SunIcon /> },
  dark: { label: 'Theme: dark', next: 'auto', icon: <MoonIcon /> },
} as const satisfies Record<
  MantineColorScheme,
  { label: string; next: MantineColorScheme; icon: React.ReactNode }
>;

/** Goes round system, light and dark; the browser remembers the choice. */
export function ThemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { label, next, icon } = schemes[colorScheme];
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size="lg" aria-label={label} onClick={() => setColorScheme(next)}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}
