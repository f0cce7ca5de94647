import '@mantine/core/styles.css';
import './global.css';
import { createTheme, localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App.tsx';
import { readAddress } from './address.ts';
import { useApp } from './store.ts';

const theme = createTheme({
  primaryColor: 'indigo',
  // White text on the default shade of dark buttons would be just under 4.5:1.
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'md',
  respectReducedMotion: true,
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif',
  headings: { fontWeight: '650' },
});

const { presetId, backends, problems } = readAddress(window.location.search);
useApp.getState().start(presetId, backends, problems);

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element #root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={localStorageColorSchemeManager({ key: 'sat-color-scheme' })}
    >
      <App />
    </MantineProvider>
  </StrictMode>,
);
