/**
 * What the backends that a config names are made of, as text. Policies name backends by their keys, anywhere in their
 * config, and so may the policies of those backends.
 */
export function namedBackends(config: string, describe: (key: string) => string | null): string {
  const texts = [config]
  const seen = new Set<string>()
  for (const text of texts) {
    for (const [literal] of text.matchAll(BACKEND_KEY)) {
      if (seen.has(literal)) continue
      seen.add(literal)
      const described = describe(JSON.parse(literal) as string)
      if (described !== null) texts.push(described)
    }
  }
  return texts.slice(1).join()
}

/** As `schema/references.ts` makes them, inside JSON. */
const BACKEND_KEY = /"(?:backend|host|url)\/(?:[^"\\]|\\.)*"/g
