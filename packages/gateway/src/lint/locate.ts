import { resourceLocations } from '../explain/resource-locations.ts'
import type { Ir } from '../ir/resources.ts'
import type { Path } from '../schema/problem.ts'
import { printPath } from '../schema/problem.ts'
import type { LoadedConfig } from '../sources/file.ts'
import type { FindingTarget } from './check.ts'

/** The location of a finding, with the path as people write it. */
export interface FindingLocation {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly path: string
}

export type Locator = (target: FindingTarget) => FindingLocation

/** Locates parts in a config file. */
export function fileLocator({ ir, tree }: LoadedConfig, file: string, rawLocation: RawLocation): Locator {
  const paths = new Map<object, Path>()
  if (tree !== undefined) {
    indexPaths(tree.config, [], paths)
    indexParts(ir, tree.config, paths)
  }
  return (target) => {
    if ('file' in target) return { ...rawLocation(target.file), path: printPath(target.file) }
    const start = paths.get(target.part)
    if (start === undefined || tree === undefined) return { file, line: 1, column: 1, path: '' }
    const path = [...start, ...(target.path ?? [])]
    const found = tree.locationOf(path)
    return 'file' in found ? { ...found, path: printPath(path) } : { file, line: 1, column: 1, path: '' }
  }
}

type RawLocation = (path: Path) => { file: string; line: number; column: number }

/** The path of each object of the config; the first path of objects that occur twice. */
function indexPaths(value: unknown, path: Path, paths: Map<object, Path>): void {
  if (typeof value !== 'object' || value === null || paths.has(value)) return
  paths.set(value, path)
  for (const [key, child] of Object.entries(value)) {
    indexPaths(child, [...path, Array.isArray(value) ? Number(key) : key], paths)
  }
}

/** Listeners and routes of the IR have the order of the file; backends have the names of the file. */
function indexParts(ir: Ir, config: NonNullable<LoadedConfig['tree']>['config'], paths: Map<object, Path>): void {
  const listenerPaths = config.binds.flatMap(({ listeners }, bind) =>
    listeners.map((_, index): Path => ['binds', bind, 'listeners', index]),
  )
  ir.listeners.forEach((listener, index) => {
    const path = listenerPaths[index]
    if (path === undefined) return
    paths.set(listener, path)
    const bind = ir.binds.find(({ key }) => key === listener.bind)
    if (bind !== undefined) paths.set(bind, path.slice(0, 2))
    const routes = ir.routes.filter((route) => route.listener === listener.key)
    routes.forEach((route, order) => paths.set(route, [...path, 'routes', order]))
    for (const route of routes) {
      const own = paths.get(route) ?? []
      route.backends.forEach((entry, order) => paths.set(entry, [...own, 'backends', order]))
    }
  })
  for (const backend of ir.backends) {
    const index = config.backends.findIndex(({ name }) => backend.key === `backend/${name}`)
    if (index !== -1) paths.set(backend, ['backends', index])
    const entry = ir.routes.flatMap(({ backends }) => backends).find(({ key }) => key === backend.key)
    const path = entry === undefined ? undefined : paths.get(entry)
    if (path !== undefined) paths.set(backend, path)
  }
}

/** Locates parts in manifests: the line of the field, or that of its resource. */
export function manifestLocator({ ir, gateway = '', locateIn }: LoadedConfig, file: string): Locator {
  const find = resourceLocations(ir, gateway)
  const unknown = { file, line: 1, column: 1, path: '' }
  return (target) => {
    if ('file' in target || locateIn === undefined) return unknown
    const resource = find(target.part, target.path ?? []) ?? backendLocation(target.part, ir, target.path ?? [])
    if (resource === null || !('kind' in resource)) return unknown
    const found = locateIn(resource, stepsOf(resource.path))
    if (found === null || !('file' in found)) return unknown
    const { kind, namespace, name, path } = resource
    return { ...found, path: `${kind} ${namespace}/${name}${path === '' ? '' : ` ${path}`}` }
  }
}

function backendLocation(part: object, ir: Ir, path: Path): ReturnType<ReturnType<typeof resourceLocations>> {
  const backend = ir.backends.find((each) => each === part)
  const [, namespace, name] = /^backend\/([^/]+)\/([^/]+)$/.exec(backend?.key ?? '') ?? []
  if (namespace === undefined || name === undefined) return null
  return { kind: 'GwBackend', namespace, name, path: printPath(['spec', ...path]) }
}

/** `spec.rules[0].matches` as steps. */
function stepsOf(path: string): Path {
  return [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([\w-]+)/g)].map(
    ([, quoted, index, name]) => quoted ?? (index === undefined ? (name ?? '') : Number(index)),
  )
}
