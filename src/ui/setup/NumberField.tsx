import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { allowedRange, type NumberOption } from '../../runs/options.ts';
import classes from './setup.module.css';

interface NumberFieldProps {
  readonly id: string;
  readonly option: NumberOption;
  readonly value: number;
  readonly onChange: (value: number) => void;
  readonly describedBy: string;
}

/** A number as text, so that 1e-8 can be typed. Text that is no number changes nothing and says so. */
export function NumberField({ id, option, value, onChange, describedBy }: NumberFieldProps) {
  const [typed, setTyped] = useState<string>();
  const text = typed ?? String(value);
  const isOutside = typed !== undefined ? !isAllowed(option, Number(typed)) : !isAllowed(option, value);
  return (
    <TextInput
      id={id}
      className={classes.number}
      classNames={{ input: classes.numberInput ?? '' }}
      size="xs"
      inputMode="decimal"
      autoComplete="off"
      value={text}
      error={isOutside ? `Allowed: ${allowedRange(option)}` : undefined}
      aria-describedby={describedBy}
      onChange={(event) => {
        const next = event.currentTarget.value;
        setTyped(next);
        const number = Number(next);
        if (next.trim() !== '' && Number.isFinite(number)) onChange(number);
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}

function isAllowed(option: NumberOption, value: number): boolean {
  if (!Number.isFinite(value) || (option.kind === 'integer' && !Number.isInteger(value))) return false;
  const low = option.exclusiveMin ? value > option.min : value >= option.min;
  return low && (option.exclusiveMax ? value < option.max : value <= option.max);
}
