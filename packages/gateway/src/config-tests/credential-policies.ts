import type { Ir } from '../ir/resources.ts'

export interface CredentialLocation {
  readonly header?: { readonly name: string; readonly prefix?: string | undefined } | undefined
  readonly queryParameter?: { readonly name: string } | undefined
  readonly cookie?: { readonly name: string } | undefined
}

interface KeyEntry {
  key?: string | undefined
  keyHash?: string | undefined
}

interface CredentialSource {
  readonly location?: CredentialLocation | undefined
}

/** The policies of a config that check credentials, with the fields that hold the secrets. */
interface CredentialPolicies {
  readonly tokens: readonly (CredentialSource & {
    readonly providers: readonly { readonly issuer: string; readonly jwks?: unknown }[]
  })[]
  readonly apiKeys: readonly (CredentialSource & {
    readonly entries: readonly (readonly [name: string, entry: KeyEntry])[]
  })[]
  readonly basic: readonly (CredentialSource & {
    readonly users: readonly { readonly username: string; hash: string }[]
  })[]
}

/** Returns the policies of a config that check credentials, including the policies of conditions. */
export function policiesOf({ policies }: Ir): CredentialPolicies {
  const traffic = policies.flatMap((policy) => policy.traffic ?? [])
  return {
    tokens: traffic.flatMap(({ jwtAuthentication, mcpAuthentication }) => [
      ...formsOf(jwtAuthentication).map(({ location, providers }) => ({ location, providers })),
      ...formsOf(mcpAuthentication).map((policy) => ({ providers: [policy] })),
    ]),
    apiKeys: traffic.flatMap(({ apiKeyAuthentication }) =>
      formsOf(apiKeyAuthentication).map(({ location, secretRef }) => ({
        location,
        entries: Object.entries<KeyEntry>(secretRef?.data ?? secretRef?.file ?? {}),
      })),
    ),
    basic: traffic.flatMap(({ basicAuthentication }) =>
      formsOf(basicAuthentication).map(({ location, users, secretRef }) => ({
        location,
        users: users ?? secretRef ?? [],
      })),
    ),
  }
}

/** Returns the policy itself, or the policies of its conditions. */
function formsOf<Policy extends object>(policy: Policy | undefined): Policy[] {
  if (policy === undefined) return []
  const { conditional } = policy as { conditional?: readonly { policy: Policy }[] }
  return conditional === undefined ? [policy] : conditional.map((form) => form.policy)
}
