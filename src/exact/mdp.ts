/**
 * The full transition model of an enumerable task (SAT.md section 1). Joint actions are indexed with agent 0 varying
 * slowest: j = ((a_0 |A_1| + a_1) |A_2| + a_2)... All arrays are row-major float64.
 */
export interface Mdp {
  readonly nStates: number;
  /** [n] actions of each agent. */
  readonly nActions: readonly number[];
  /** Discount in [0, 1). */
  readonly gamma: number;
  /** [S * J * S'] transition probabilities; rows sum to 1. */
  readonly transitions: Float64Array;
  /** [S * J] expected rewards. */
  readonly rewards: Float64Array;
  /** [S] start distribution. */
  readonly mu: Float64Array;
  /** [S * n] 0/1: whether agent i acts in state s. */
  readonly active: Uint8Array;
  /** [n] the action that an inactive agent takes with probability 1. */
  readonly noop: readonly number[];
}

/** Per agent, [S * |A_i|] action probabilities; rows where the agent is inactive are ignored. */
export type JointPolicy = readonly Float64Array[];
