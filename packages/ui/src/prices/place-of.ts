import type { BackendsView, ViewedBackend } from '@portico/gateway/admin-config'

/** Where the config says that a provider is asked; empty for its own place, and where the config has it no more. */
export function placeOf(view: BackendsView | undefined, backend: string | null, provider: string): string {
  const found = view?.backends.find(({ key }) => key === backend)
  return found === undefined ? '' : placeIn(found, provider)
}

export function placeIn({ groups }: ViewedBackend, provider: string): string {
  return groups.flat().find(({ name }) => name === provider)?.at ?? ''
}
