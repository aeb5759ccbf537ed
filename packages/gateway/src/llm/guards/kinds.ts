/** Names that a vendor gives to what it found, fit for the trace: each once, and nothing that could be a text. */
export function readableKinds(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => /^[A-Za-z0-9_/.-]{1,64}$/.test(name)).slice(0, MAX_KINDS)
}

const MAX_KINDS = 16
