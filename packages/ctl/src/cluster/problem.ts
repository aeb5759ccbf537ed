import { KubeError } from '@portico/controller/kube'

/** Why a request to a cluster failed, in one line for the user. */
export class ClusterProblem extends Error {
  override readonly name = 'ClusterProblem'
  /** The missing right, such as `list pods in namespace shop`; null for other problems. */
  readonly right: string | null

  constructor(message: string, { right = null, cause }: { right?: string | null; cause?: unknown } = {}) {
    super(message, { cause })
    this.right = right
  }
}

/** A request in terms of `kubectl auth can-i`: verb, resource, and namespace, or null for all. */
interface AttemptedRequest {
  verb: 'get' | 'list' | 'create'
  resource: string
  namespace: string | null
}

export function clusterProblem(error: unknown, attempt: AttemptedRequest): ClusterProblem {
  if (error instanceof ClusterProblem) return error
  const right = printRight(attempt)
  if (!(error instanceof KubeError)) {
    return new ClusterProblem(error instanceof Error ? error.message : String(error), { cause: error })
  }
  switch (error.status) {
    case 401:
      return new ClusterProblem('the API server rejected these credentials: log in again, or name another context', {
        cause: error,
      })
    case 403: {
      const scope = attempt.namespace === null ? '--all-namespaces' : `-n ${attempt.namespace}`
      const check = `kubectl auth can-i ${attempt.verb} ${attempt.resource} ${scope}`
      return new ClusterProblem(`no right to ${right} (${check})`, { right, cause: error })
    }
    case 0:
      return new ClusterProblem(`the API server cannot be reached: ${error.message}`, { cause: error })
    default:
      return new ClusterProblem(`could not ${right}: ${error.message}`, { cause: error })
  }
}

function printRight({ verb, resource, namespace }: AttemptedRequest): string {
  return `${verb} ${resource} ${namespace === null ? 'in all namespaces' : `in namespace ${namespace}`}`
}
