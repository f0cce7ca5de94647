import { SegmentedControl, Slider, Switch } from '@mantine/core';
import { memo } from 'react';
import { allowedRange, type EnumOption, type NumberOption, type Option } from '../../runs/options.ts';
import { type DraftValue, valueAt } from '../draft.ts';
import { useApp } from '../store.ts';
import { NumberField } from './NumberField.tsx';
import classes from './setup.module.css';
import { fromTrack, toTrack, track } from './sliderScale.ts';

interface KnobProps {
  readonly field: string;
  readonly option: Option;
}

/** One option: label, unit, control, range, meaning, and the way back to its default. */
export const Knob = memo(function Knob({ field, option }: KnobProps) {
  const running = useApp((state) => state.config && valueAt(state.config, field));
  const edited = useApp((state) => state.edits[field]);
  const isEdited = edited !== undefined;
  const value = edited ?? running;
  const edit = useApp((state) => state.edit);
  if (value === undefined) return null;
  const id = `knob-${field}`;
  const change = (next: DraftValue) => edit(field, next);
  return (
    <div className={classes.knob} data-edited={isEdited || undefined}>
      <div className={classes.knobHead}>
        <label id={`${id}-label`} htmlFor={id} className={classes.label}>
          {option.label}
          {option.unit !== undefined && <span className={classes.unit}> {option.unit}</span>}
        </label>
        {value !== option.default && (
          <button
            type="button"
            className={classes.default}
            onClick={() => change(option.default)}
            aria-label={`${option.label}: back to the default ${option.default}`}
          >
            default {String(option.default)}
          </button>
        )}
        {option.kind === 'boolean' && (
          <Switch
            id={id}
            checked={value === true}
            onChange={(event) => change(event.currentTarget.checked)}
            size="sm"
          />
        )}
        {(option.kind === 'number' || option.kind === 'integer') && typeof value === 'number' && (
          <NumberField
            id={id}
            option={option}
            value={value}
            onChange={change}
            describedBy={`${id}-meaning`}
          />
        )}
      </div>
      {option.kind === 'enum' && <Choices id={id} option={option} value={value} onChange={change} />}
      {(option.kind === 'number' || option.kind === 'integer') && typeof value === 'number' && (
        <Track option={option} value={value} onChange={change} />
      )}
      <p id={`${id}-meaning`} className={classes.help}>
        {isEdited && (
          <span className={classes.edited}>Changed, not applied: the run has {String(running)}.</span>
        )}
        {option.meaning} <Range option={option} value={value} />
      </p>
    </div>
  );
});

/** What is allowed; for a choice, what the present one means. */
function Range({ option, value }: { readonly option: Option; readonly value: DraftValue }) {
  if (option.kind === 'boolean') return null;
  if (option.kind === 'enum') {
    const chosen = option.values.find((choice) => choice.value === value);
    return (
      <span className={classes.chosen}>
        {String(value)}: {chosen?.meaning ?? 'unknown'}.
      </span>
    );
  }
  const range = allowedRange(option).replace(/^an? (whole )?number /, '');
  return (
    <span className={classes.range}>
      {range.charAt(0).toUpperCase() + range.slice(1)}
      {option.source === undefined ? '.' : `; ${option.source}.`}
    </span>
  );
}

interface ControlProps<O> {
  readonly option: O;
  readonly onChange: (value: DraftValue) => void;
}

function Choices({
  id,
  option,
  value,
  onChange,
}: ControlProps<EnumOption> & { readonly id: string; readonly value: DraftValue }) {
  return (
    <SegmentedControl
      id={id}
      aria-labelledby={`${id}-label`}
      size="xs"
      fullWidth
      data={option.values.map((choice) => choice.value)}
      value={String(value)}
      onChange={onChange}
    />
  );
}

/** A slider where the range is short or logarithmic; other numbers are typed. */
function Track({ option, value, onChange }: ControlProps<NumberOption> & { readonly value: number }) {
  const scale = track(option);
  if (scale === undefined) return null;
  return (
    <Slider
      className={classes.slider}
      size="sm"
      label={null}
      min={scale.min}
      max={scale.max}
      step={scale.step}
      value={toTrack(scale, value)}
      onChange={(position) => onChange(fromTrack(scale, position))}
      thumbLabel={`${option.label}, slider`}
      thumbValueText={String(value)}
    />
  );
}
