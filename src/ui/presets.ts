/** The presets that ship with the app, in the order of the menu. Each is public/presets/<id>.yaml. */
export interface Preset {
  readonly id: string;
  readonly title: string;
}

export const presets: readonly Preset[] = [
  { id: 'doorway', title: 'Doorway: one at a time' },
  { id: 'doorway-simultaneous', title: 'Doorway: all at once' },
  { id: 'doorway-patient', title: 'Doorway: the long view' },
  { id: 'climbing', title: 'Climbing: better is not best' },
  { id: 'penalty', title: 'Penalty: the safe reply' },
  { id: 'chain', title: 'Chain: doors that jam' },
  { id: 'relay', title: 'Relay: three runners, one baton' },
  { id: 'sum', title: 'Sum: three small transformers' },
];

/**
 * The YAML of a preset, from this site.
 *
 * @throws {Error} saying which preset is missing and which there are, or what the server answered.
 */
export async function fetchPreset(id: string): Promise<string> {
  if (!presets.some((preset) => preset.id === id)) {
    throw new Error(
      `preset: given ${JSON.stringify(id)}; allowed: ${presets.map((preset) => preset.id).join(', ')}`,
    );
  }
  const response = await fetch(`${import.meta.env.BASE_URL}presets/${id}.yaml`);
  if (!response.ok) throw new Error(`presets/${id}.yaml: the server answered ${response.status}`);
  return response.text();
}
