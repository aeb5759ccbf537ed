import type { BackendsView, ViewedBackend } from '@portico/gateway/admin-config'

/** The address of a provider in the config; empty for the provider's own address, and for a provider that the config no longer has. */
export function providerAddress(view: BackendsView | undefined, backend: string | null, provider: string): string {
  const found = view?.backends.find(({ key }) => key === backend)
  return found === undefined ? '' : addressIn(found, provider)
}

export function addressIn({ groups }: ViewedBackend, provider: string): string {
  return groups.flat().find(({ name }) => name === provider)?.at ?? ''
}
