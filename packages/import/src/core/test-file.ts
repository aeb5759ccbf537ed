import { printTests } from './config-yaml.ts'

/** The behavior of a config, as the tests of a test file. */
export interface StatedBehavior {
  /** Environment variables that the config needs, with values for the tests. */
  readonly env: Readonly<Record<string, string>>
  /** Responses by `host:port`, or `*`. */
  readonly upstreams: Readonly<Record<string, object>>
  readonly tests: readonly StatedTest[]
}

export interface StatedTest {
  readonly name: string
  readonly [field: string]: unknown
}

/** Prints the test file of a config; null when nothing can be stated. */
export function printTestFile(
  { env, upstreams, tests }: StatedBehavior,
  config: string,
  header: string,
): string | null {
  if (tests.length === 0) return null
  const names = new Set<string>()
  const unique = tests.map((test) => ({ ...test, name: uniqueName(test.name.slice(0, 240), names) }))
  const world = {
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(upstreams).length > 0 && { upstreams }),
  }
  return printTests({ config, ...(Object.keys(world).length > 0 && { world }), tests: unique }, header)
}

function uniqueName(name: string, names: Set<string>): string {
  let found = name
  for (let number = 2; names.has(found); number++) found = `${name} (${number})`
  names.add(found)
  return found
}
