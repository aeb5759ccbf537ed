import type { Field } from '../core/yaml-field.ts'
import { type Consumer, readConsumers } from './consumers.ts'
import { Entity, referenceOf } from './entities.ts'
import type { Route, Service } from './model.ts'
import { type Plugin, readPlugins } from './scopes.ts'

/** The Kong entities of all imported files. */
export interface Source {
  /** The major version of the file format. Since version 3, paths that are patterns begin with `~`. */
  readonly version: number
  readonly services: readonly Service[]
  readonly routes: readonly Route[]
  readonly plugins: readonly Plugin[]
  readonly consumers: readonly Consumer[]
  readonly roots: readonly Field[]
}

export function readSource(roots: readonly Field[]): Source {
  const all = (name: string): Field[] => roots.flatMap((root) => [...(root.get(name)?.items ?? [])])
  const defaults = (name: string): Field | null =>
    roots.map((root) => root.get('_info')?.get('defaults')?.get(name) ?? null).find((each) => each !== null) ?? null
  const services = all('services').map((field) => readService(field, defaults('service')))
  const routes = [
    ...services.flatMap((service) =>
      (service.entity.field.get('routes')?.items ?? []).map((field, at) =>
        readRoute(field, at, { service, defaults: defaults('route') }),
      ),
    ),
    ...all('routes').map((field, at) => {
      const reference = field.get('service')
      const name = referenceOf(reference)
      const service = services.find(({ names }) => name !== null && names.includes(name)) ?? null
      if (service !== null) reference?.carried()
      else reference?.notCarried('no file has this service; matching requests get 501')
      return readRoute(field, at, { service, defaults: defaults('route') })
    }),
  ]
  const consumers = readConsumers(roots)
  const version = Math.max(
    1,
    ...roots.map((root) => Number.parseInt(root.get('_format_version')?.text ?? '1', 10) || 1),
  )
  for (const root of roots) markHead(root)
  return { version, services, routes, consumers, roots, plugins: readPlugins(roots, { services, routes, consumers }) }
}

function readService(field: Field, defaults: Field | null): Service {
  const entity = new Entity(field, defaults)
  entity.markLabels()
  field.get('name')?.carried()
  const enabled = field.get('enabled')
  enabled?.carried(entity.isEnabled ? '' : 'the service is disabled, so its routes are left out')
  return { names: namesOf(field), entity, isEnabled: entity.isEnabled }
}

function readRoute(
  field: Field,
  at: number,
  { service, defaults }: { service: Service | null; defaults: Field | null },
): Route {
  const entity = new Entity(field, defaults)
  entity.markLabels()
  field.get('name')?.carried()
  const label = field.get('name')?.text ?? `${service?.names[0] ?? 'route'}-${at + 1}`
  return { label, names: namesOf(field), entity, service }
}

function namesOf(field: Field): string[] {
  return [field.get('name')?.text, field.get('id')?.text].filter((each) => each != null)
}

function markHead(root: Field): void {
  for (const [name, field] of root.members) {
    if (name === '_info')
      for (const [, each] of field.members) each.carried(each.isMapping ? '' : 'the field has no effect on requests')
    else if (name.startsWith('_') && name !== '_plugin_configs') field.carried('the field has no effect on requests')
  }
}
