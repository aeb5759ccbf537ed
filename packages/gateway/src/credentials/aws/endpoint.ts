import type { SigningScope } from '../../pipeline/cloud-credentials.ts'

/**
 * Returns region and service from an AWS host name such as `bedrock-runtime.eu-west-1.amazonaws.com`; null for other
 * hosts.
 */
export function scopeOfHost(host: string): SigningScope | null {
  const labels = host.toLowerCase().split('.')
  const suffix = SUFFIXES.find((names) => names.every((name, at) => labels.at(at - names.length) === name))
  if (suffix === undefined) return null
  const own = labels.slice(0, labels.length - suffix.length)
  const at = own.findIndex((label) => REGION.test(label))
  // The service precedes the region: `<id>.execute-api.eu-west-1`.
  const name = own[at - 1]?.replace(/-fips$/, '')
  const region = own[at]
  if (region === undefined || name === undefined) return null
  return { region, service: SERVICES[name] ?? name }
}

const SUFFIXES = [
  ['amazonaws', 'com'],
  ['amazonaws', 'com', 'cn'],
  ['api', 'aws'],
  ['on', 'aws'],
]
const REGION = /^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}$/

/** Service names in signatures, by the name in the host, where the two differ. */
const SERVICES: Readonly<Record<string, string>> = {
  'bedrock-runtime': 'bedrock',
  'bedrock-agent': 'bedrock',
  'bedrock-agent-runtime': 'bedrock',
  'lambda-url': 'lambda',
}
