import type { BackendsView, ViewedBackend, ViewedEndpoint, ViewedError } from '@portico/gateway/admin-config'

/** A backend, or a part of it, that fails. */
interface BackendTrouble {
  readonly backend: string
  /** Provider or target; empty for the backend itself. */
  readonly part: string
  readonly endpoint: ViewedEndpoint | null
  readonly error: ViewedError | null
  /** Names the providers that get the requests instead; empty when there are none. */
  readonly note: string
}

export function findTroubles({ backends }: BackendsView): BackendTrouble[] {
  return backends.flatMap((backend) => [
    ...backend.endpoints.flatMap((own) => asTrouble(backend, '', own)),
    ...troublesOfParts(backend),
  ])
}

function troublesOfParts(backend: ViewedBackend): BackendTrouble[] {
  const { activeGroup, groups } = backend
  return groups.flatMap((group, index) =>
    group.flatMap(({ name, health, endpoints, lastError }): BackendTrouble[] => {
      const spare = activeGroup === null ? [] : (groups[activeGroup] ?? []).map((part) => part.name)
      const note = activeGroup !== null && index < activeGroup ? `requests go to ${spare.join(', ')}` : ''
      const found = [...(health === null ? [] : [health]), ...endpoints].flatMap((own) =>
        asTrouble(backend, name, own, note),
      )
      // The state of a provider covers its addresses, so these are not listed again.
      const shown = health === null ? found : found.slice(0, 1)
      return lastError === null ? shown : [...shown, { ...nothing(backend, name), error: lastError }]
    }),
  )
}

function asTrouble(backend: ViewedBackend, part: string, endpoint: ViewedEndpoint, note = ''): BackendTrouble[] {
  return endpoint.state === 'healthy' ? [] : [{ ...nothing(backend, part), endpoint, note }]
}

function nothing({ name, key }: ViewedBackend, part: string): BackendTrouble {
  return { backend: name === '' ? key : name, part, endpoint: null, error: null, note: '' }
}
