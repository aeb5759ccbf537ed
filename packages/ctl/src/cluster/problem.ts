import { KubeError } from '@portico/controller/kube'

/** Why a cluster could not be asked: one line for the user. */
export class ClusterProblem extends Error {
  override readonly name = 'ClusterProblem'
  /** The right that is missing, such as `list pods in namespace shop`; null for other problems. */
  readonly right: string | null

  constructor(message: string, { right = null, cause }: { right?: string | null; cause?: unknown } = {}) {
    super(message, { cause })
    this.right = right
  }
}

/** What was to be done, as `kubectl auth can-i` takes it: verb, resource, and the namespace or null for all. */
export interface Deed {
  verb: 'get' | 'list' | 'create'
  resource: string
  namespace: string | null
}

export function clusterProblem(error: unknown, deed: Deed): ClusterProblem {
  if (error instanceof ClusterProblem) return error
  const right = printRight(deed)
  if (!(error instanceof KubeError)) {
    return new ClusterProblem(error instanceof Error ? error.message : String(error), { cause: error })
  }
  switch (error.status) {
    case 401:
      return new ClusterProblem(
        'the API server does not take these credentials: log in again, or name another context',
        {
          cause: error,
        },
      )
    case 403: {
      const scope = deed.namespace === null ? '--all-namespaces' : `-n ${deed.namespace}`
      const check = `kubectl auth can-i ${deed.verb} ${deed.resource} ${scope}`
      return new ClusterProblem(`no right to ${right} (${check})`, { right, cause: error })
    }
    case 0:
      return new ClusterProblem(`the API server cannot be reached: ${error.message}`, { cause: error })
    default:
      return new ClusterProblem(`could not ${right}: ${error.message}`, { cause: error })
  }
}

export function printRight({ verb, resource, namespace }: Deed): string {
  return `${verb} ${resource} ${namespace === null ? 'in all namespaces' : `in namespace ${namespace}`}`
}
