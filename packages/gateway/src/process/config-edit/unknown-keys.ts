import { configFile } from '../../sources/schema.ts'
import { unwrapLists } from '../../schema/unwrap-singletons.ts'
import { printPath } from '../../schema/problem.ts'
import { validate } from '../../schema/validate.ts'
import { printProblem } from '../../sources/print-problems.ts'
import { parseWithLocations } from '../../sources/yaml/yaml.ts'

/** A key that the schema does not know, as problems are printed. */
interface UnknownKey {
  path: string
  text: string
}

/** Keys of a text that the schema does not know. Neither files nor variables are looked at. */
export function unknownKeys(text: string, file: string): UnknownKey[] {
  const { value, locationOf } = parseWithLocations(text, file, {})
  unwrapLists(configFile, value)
  const validated = validate(configFile, value)
  if (validated.ok) return []
  return validated.problems
    .filter(({ code }) => code === 'unknown_key')
    .map((problem) => ({
      path: printPath(problem.path),
      text: printProblem({ ...problem, location: locationOf(problem.path, problem.at) }),
    }))
}

/** Whether something at `path` belongs to the key. */
export function isBelow(path: string, key: UnknownKey): boolean {
  return path === key.path || path.startsWith(`${key.path}.`) || path.startsWith(`${key.path}[`)
}
