import { readyPodAddress } from '../../resources/pod.ts'
import type { Context, Query } from '../context.ts'
import { formatEndpoint, type ServiceEndpoint } from './service.ts'

/** Returns the endpoints of selected Pods, sorted: every port of every ready Pod that has all of the labels. */
export function podEndpoints(
  context: Context,
  namespace: string,
  { labels, ports }: { labels: Readonly<Record<string, string>>; ports: readonly number[] },
): ServiceEndpoint[] {
  const endpoints = podsWith(context, namespace, labels).flatMap((pod) => {
    const address = context.read(podAddress, pod)
    return address === null ? [] : ports.map((port) => ({ at: formatEndpoint(address, port), pod }))
  })
  return endpoints.toSorted((one, other) => (one.at < other.at ? -1 : 1))
}

/** The address of a Pod that takes requests, by `namespace/name`. A query, because most changes of a Pod keep it. */
const podAddress: Query<string | null> = {
  name: 'podAddress',
  compute(context, key) {
    const pod = context.get('Pod', key)
    return pod === undefined ? null : readyPodAddress(pod)
  },
}

/** Returns the keys of the Pods that have all of these labels; none without labels. */
function podsWith(context: Context, namespace: string, labels: Readonly<Record<string, string>>): readonly string[] {
  const [first = [], ...others] = Object.entries(labels).map(([name, value]) =>
    context.keys('Pod', { by: 'label', value: `${namespace} ${name}=${value}` }),
  )
  return first.filter((key) => others.every((other) => other.includes(key)))
}
