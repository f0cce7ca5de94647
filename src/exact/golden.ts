/** Runs cases of the golden files on exact MDPs (formats: test/golden/README.md, groups `exact_mdp` and `fisher`). */
import { type GoldenRecord, type GoldenValue, goldenArray, goldenNumber, nested } from '../runs/golden.ts';
import { type AgentUpdateQuantities, agentUpdate } from './bounds.ts';
import { type StageCertificate, stageCertificate } from './certificate.ts';
import { type Evaluation, evaluate } from './evaluate.ts';
import { informationGain, stepOutcome } from './fisher.ts';
import type { JointPolicy, Mdp } from './mdp.ts';
import { intermediatePolicies, isActive, jointActionCount, softmaxRows } from './policy.ts';

/**
 * One stage of sequential updates, evaluated: the keys `policies`, `steps` and `stage` of the case's `expected`.
 * Throws where an input is missing or malformed.
 */
export function runExactCase(input: GoldenRecord): GoldenRecord {
  const mdp = goldenMdp(input);
  const sigma = numbers(input, 'sigma');
  const policies = intermediatePolicies(
    goldenPolicy(mdp, input.logits_cur),
    goldenPolicy(mdp, input.logits_tar),
    sigma,
  );
  const evaluations = policies.map((policy) => evaluate(mdp, policy));
  const updates = sigma.map((agent, i) =>
    agentUpdate(mdp, policies[i]!, policies[i + 1]!, agent, evaluations[i]!, evaluations[i + 1]!),
  );
  const stage = stageCertificate(updates, {
    gamma: mdp.gamma,
    nAgents: mdp.nActions.length,
    episodes: numbers(input, 'N'),
    deltaConf: goldenNumber(input.delta_conf, 'delta_conf'),
  });
  return {
    policies: evaluations.map((evaluation) => policyRecord(mdp, evaluation)),
    steps: updates.map(stepRecord),
    stage: stageRecord(stage),
  };
}

/**
 * Information-geometric quantities of the agent whose turn it is at the case's `step`, the agents before it at their
 * targets. Throws where an input is missing or malformed.
 */
export function runFisherCase(input: GoldenRecord): GoldenRecord {
  const mdp = goldenMdp(input);
  const sigma = numbers(input, 'sigma');
  const step = goldenNumber(input.step, 'step');
  const agent = sigma[step - 1];
  if (agent === undefined) {
    throw new RangeError(`step: given ${step}; allowed: a whole number from 1 to ${sigma.length}`);
  }
  const current = goldenPolicy(mdp, input.logits_cur);
  const joint = intermediatePolicies(current, goldenPolicy(mdp, input.logits_tar), sigma)[step - 1]!;
  const evaluation = evaluate(mdp, joint);
  const information = informationGain(mdp, joint, evaluation, agent, {
    eps: goldenNumber(input.eps, 'eps'),
    delta: goldenNumber(input.delta, 'delta'),
  });
  const { gradient, naturalGradient, naturalStep } = information;
  const table = [mdp.nStates, mdp.nActions[agent]!];
  const atStep = stepOutcome(mdp, joint, evaluation, agent, naturalStep);
  return {
    agent,
    d: [...evaluation.d],
    gradient: nested(gradient, table),
    fisher: nested(denseFisher(mdp, joint, evaluation, agent), [gradient.length, gradient.length]),
    natural_gradient: nested(naturalGradient, table),
    kappa: information.kappa,
    lambda_min: information.lambdaMin,
    gain: information.gain,
    natural_step: nested(naturalStep, table),
    L_at_cur: stepOutcome(mdp, joint, evaluation, agent, new Float64Array(gradient.length)).L,
    L_at_step: atStep.L,
    mean_kl_at_step: atStep.meanKl,
    kl_max_at_step: atStep.klMax,
  };
}

/** F = sum_s d(s) E_a score score^T as one matrix [(S |A_j|) * (S |A_j|)]: a block d(s) (diag p - p p^T) a state. */
function denseFisher(mdp: Mdp, joint: JointPolicy, { d }: Evaluation, agent: number): Float64Array {
  const width = mdp.nActions[agent]!;
  const rows = joint[agent]!;
  const out = new Float64Array(rows.length ** 2);
  rows.forEach((p, index) => {
    const s = Math.floor(index / width);
    if (!isActive(mdp, s, agent)) return;
    for (let other = s * width; other < (s + 1) * width; other++) {
      out[index * rows.length + other] = d[s]! * p * (Number(index === other) - rows[other]!);
    }
  });
  return out;
}

function numbers(input: GoldenRecord, key: string): number[] {
  return [...goldenArray(input[key], key).data];
}

function goldenMdp(input: GoldenRecord): Mdp {
  return {
    nStates: goldenArray(input.mu, 'mu').data.length,
    nActions: numbers(input, 'n_actions'),
    gamma: goldenNumber(input.gamma, 'gamma'),
    transitions: goldenArray(input.P, 'P').data,
    rewards: goldenArray(input.R, 'R').data,
    mu: goldenArray(input.mu, 'mu').data,
    active: Uint8Array.from(goldenArray(input.active, 'active').data),
    noop: numbers(input, 'noop'),
  };
}

/** Per agent [S][A_i] logits as probabilities. */
function goldenPolicy(mdp: Mdp, logits: GoldenValue | undefined): JointPolicy {
  if (!Array.isArray(logits)) throw new TypeError('logits: expected a table for each agent');
  return mdp.nActions.map((width, agent) =>
    softmaxRows(goldenArray(logits[agent], `logits of agent ${agent}`).data, width),
  );
}

function policyRecord(mdp: Mdp, { J, V, Q, A, d }: Evaluation): GoldenRecord {
  const pairs = [mdp.nStates, jointActionCount(mdp)];
  return { J, V: [...V], Q: nested(Q, pairs), A: nested(A, pairs), d: [...d] };
}

function stepRecord(update: AgentUpdateQuantities): GoldenRecord {
  const { penalties, lowerBounds } = update;
  return {
    agent: update.agent,
    dJ: update.dJ,
    kl: [...update.kl],
    tv: [...update.tv],
    kl_max: update.klMax,
    tv_max: update.tvMax,
    mean_tv: update.meanTv,
    expected_advantage: [...update.expectedAdvantage],
    L: update.L,
    A_max: update.aMax,
    penalty_paper: penalties.paper,
    penalty_trpo: penalties.trpo,
    penalty_cpo: penalties.cpo,
    penalty_coupling: penalties.coupling,
    ...lowerBoundRecord(lowerBounds),
    occupancy_shift_l1: update.occupancyShift,
    occupancy_shift_bound: update.occupancyShiftBound,
    occupancy_shift_bound_coupling: update.occupancyShiftBoundCoupling,
    oracle_upper_bound: update.oracleUpperBound,
  };
}

function stageRecord({ dJ, L, lowerBounds, oracleUpperBound, finiteSample }: StageCertificate): GoldenRecord {
  return {
    dJ,
    sum_L: L,
    ...lowerBoundRecord(lowerBounds),
    oracle_upper_bound: oracleUpperBound,
    ...(finiteSample && {
      finite_sample_as_printed: finiteSample.asPrinted,
      finite_sample_hoeffding: finiteSample.hoeffding,
    }),
  };
}

function lowerBoundRecord(bounds: StageCertificate['lowerBounds']): GoldenRecord {
  return Object.fromEntries(Object.entries(bounds).map(([name, value]) => [`lower_bound_${name}`, value]));
}
