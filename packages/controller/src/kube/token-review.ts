import type { KubeClient } from './kube-client.ts'

export type Reviewed =
  | { ok: true; namespace: string; serviceAccount: string; pod: string | undefined }
  /** Why, without the token. */
  | { ok: false; why: string }

/** Whose service-account token it is, when it was made for this audience. */
export async function reviewToken(client: KubeClient, token: string, audience: string): Promise<Reviewed> {
  const answer = (await client.ask({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences: [audience] } },
  })) as { status?: ReviewStatus }
  const { authenticated, audiences, user } = answer.status ?? {}
  if (authenticated !== true) return { ok: false, why: 'the token is not valid' }
  // A server that knows no audiences leaves them out, and has not checked them.
  if (audiences?.includes(audience) !== true) return { ok: false, why: `the token is not for the audience ${audience}` }
  const [, namespace, serviceAccount] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user?.username ?? '') ?? []
  if (namespace === undefined || serviceAccount === undefined)
    return { ok: false, why: 'the token is of no service account' }
  return { ok: true, namespace, serviceAccount, pod: user?.extra?.['authentication.kubernetes.io/pod-name']?.[0] }
}

interface ReviewStatus {
  authenticated?: boolean
  audiences?: readonly string[]
  user?: { username?: string; extra?: Readonly<Record<string, readonly string[]>> }
}
