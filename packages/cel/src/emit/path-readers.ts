import type { Path } from '../plan.ts'
import { typeOfPath } from '../plan.ts'
import { readHost, viewOf } from '../run/struct-view.ts'
import { HeadersView } from '../value.ts'
import type { Value } from '../value.ts'

/** Undefined: absent. */
export type PathReader = (scope: object) => Value | undefined

export function readPath(path: Path): PathReader {
  const { name } = path
  if (path.kind === 'root') return (scope) => readHost(scope, name)
  const parent = readPath(path.parent)
  if (path.kind === 'field') return (scope) => readHost(parent(scope), name)
  return (scope) => {
    const view = parent(scope)
    return view instanceof HeadersView ? view.get(name) : undefined
  }
}

/** As `readPath`; a struct comes as a map. */
export function readView(path: Path): PathReader {
  const read = readPath(path)
  const type = typeOfPath(path)
  return type?.kind === 'struct' ? (scope) => viewOf(read(scope), type) : read
}
