/** Points of a turn at which a crash would do the most harm. The crash tests kill the worker there. */
export type FaultPoint =
  | 'before-model-call'
  | 'mid-stream'
  | 'after-stream'
  | 'before-tool'
  | 'after-tool'
  | 'before-hand-out'
  | 'before-end'
  | 'after-end'
