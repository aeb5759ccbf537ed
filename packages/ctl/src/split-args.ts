interface SplitArgs {
  readonly own: readonly string[]
  /** The arguments after the first `--`; null when there is none. */
  readonly afterDashes: readonly string[] | null
}

/** Splits before any parser runs, because a parser drops the `--` and interprets the rest. */
export function splitArgs(args: readonly string[]): SplitArgs {
  const dashes = args.indexOf('--')
  if (dashes < 0) return { own: args, afterDashes: null }
  return { own: args.slice(0, dashes), afterDashes: args.slice(dashes + 1) }
}
