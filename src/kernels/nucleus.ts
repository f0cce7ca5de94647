/**
 * Mass this close below topP counts as reached, on both backends: without it, rounding (float32 on the GPU) would add
 * an action to a nucleus whose mass is exactly topP.
 */
export const NUCLEUS_SLACK = 1e-6;
