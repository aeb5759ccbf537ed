import type { KubeClient } from './kube-client.ts'

export type TokenReview =
  | { ok: true; namespace: string; serviceAccount: string; pod: string | undefined }
  /** The reason of the rejection, without the token. */
  | { ok: false; why: string }

/** Returns the service account of a token that is valid for this audience. */
export async function reviewToken(client: KubeClient, token: string, audience: string): Promise<TokenReview> {
  const answer = (await client.ask({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences: [audience] } },
  })) as { status?: ReviewStatus }
  const { authenticated, audiences, user } = answer.status ?? {}
  if (authenticated !== true) return { ok: false, why: 'the token is not valid' }
  // A server without support for audiences omits them, and has not checked them.
  if (audiences?.includes(audience) !== true) return { ok: false, why: `the token is not for the audience ${audience}` }
  const [, namespace, serviceAccount] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user?.username ?? '') ?? []
  if (namespace === undefined || serviceAccount === undefined)
    return { ok: false, why: 'the token does not belong to a service account' }
  return { ok: true, namespace, serviceAccount, pod: user?.extra?.['authentication.kubernetes.io/pod-name']?.[0] }
}

interface ReviewStatus {
  authenticated?: boolean
  audiences?: readonly string[]
  user?: { username?: string; extra?: Readonly<Record<string, readonly string[]>> }
}
