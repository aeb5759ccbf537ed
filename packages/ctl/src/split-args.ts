export interface SplitArgs {
  readonly own: readonly string[]
  /** What stands behind the first `--`; null when there is none. */
  readonly afterDashes: readonly string[] | null
}

/** Done before any parser sees the arguments: a parser drops the `--` and takes what follows for its own. */
export function splitArgs(args: readonly string[]): SplitArgs {
  const dashes = args.indexOf('--')
  if (dashes < 0) return { own: args, afterDashes: null }
  return { own: args.slice(0, dashes), afterDashes: args.slice(dashes + 1) }
}
