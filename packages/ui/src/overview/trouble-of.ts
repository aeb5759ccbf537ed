import type { BackendsView, ViewedBackend, ViewedEndpoint, ViewedError } from '@portico/gateway/admin-config'

/** Something that does not do as it should. */
export interface Troubled {
  readonly backend: string
  /** Provider or target; empty for the backend itself. */
  readonly part: string
  readonly endpoint: ViewedEndpoint | null
  readonly error: ViewedError | null
  /** Who takes its place. */
  readonly note: string
}

export function troubleOf({ backends }: BackendsView): Troubled[] {
  return backends.flatMap((backend) => [
    ...backend.endpoints.flatMap((own) => asTrouble(backend, '', own)),
    ...ofParts(backend),
  ])
}

function ofParts(backend: ViewedBackend): Troubled[] {
  const { activeGroup, groups } = backend
  return groups.flatMap((group, index) =>
    group.flatMap(({ name, health, endpoints, lastError }): Troubled[] => {
      const spare = activeGroup === null ? [] : (groups[activeGroup] ?? []).map((part) => part.name)
      const note = activeGroup !== null && index < activeGroup ? `${spare.join(', ')} is asked instead` : ''
      const found = [...(health === null ? [] : [health]), ...endpoints].flatMap((own) =>
        asTrouble(backend, name, own, note),
      )
      // Of a provider its own state says it all; its addresses say the same.
      const shown = health === null ? found : found.slice(0, 1)
      return lastError === null ? shown : [...shown, { ...nothing(backend, name), error: lastError }]
    }),
  )
}

function asTrouble(backend: ViewedBackend, part: string, endpoint: ViewedEndpoint, note = ''): Troubled[] {
  return endpoint.state === 'healthy' ? [] : [{ ...nothing(backend, part), endpoint, note }]
}

function nothing({ name, key }: ViewedBackend, part: string): Troubled {
  return { backend: name === '' ? key : name, part, endpoint: null, error: null, note: '' }
}
