/** Keys of Envoy and related projects, with the keys that Portico uses; a key is suggested only where it exists. */
const NAMES: Readonly<Record<string, { key: string; write: string }>> = {
  failopen: { key: 'failureMode', write: 'failureMode: FailOpen' },
  failclosed: { key: 'failureMode', write: 'failureMode: FailClosed' },
  failuremodeallow: { key: 'failureMode', write: 'failureMode: FailOpen' },
  failuremodedeny: { key: 'failureMode', write: 'failureMode: FailClosed' },
  includerequestbody: { key: 'forwardBody', write: 'forwardBody: { maxSize: … }' },
  withrequestbody: { key: 'forwardBody', write: 'forwardBody: { maxSize: … }' },
  bodytoextauth: { key: 'forwardBody', write: 'forwardBody: { maxSize: … }' },
  maxrequestbytes: { key: 'maxSize', write: 'maxSize' },
  grpcservice: { key: 'backendRef', write: 'backendRef' },
  httpservice: { key: 'http', write: 'http: {}' },
  allowedheaders: { key: 'allowedRequestHeaders', write: 'allowedRequestHeaders' },
  headerstoextauth: { key: 'allowedRequestHeaders', write: 'allowedRequestHeaders' },
  allowedupstreamheaders: { key: 'allowedResponseHeaders', write: 'allowedResponseHeaders' },
  headerstobackend: { key: 'allowedResponseHeaders', write: 'allowedResponseHeaders' },
  contextextensions: { key: 'grpc', write: 'grpc: { contextExtensions: … }' },
  processingmode: { key: 'processingOptions', write: 'processingOptions' },
  allowmodeoverride: { key: 'processingOptions', write: 'processingOptions: { allowModeOverride: true }' },
}

/**
 * A suggestion such as `write \`failureMode: FailOpen\``; null when the name is unknown, or its key does not exist
 * here.
 */
export function foreignName(name: string, known: readonly string[]): string | null {
  const found = NAMES[name.replaceAll(/[_-]/g, '').toLowerCase()]
  return found !== undefined && known.includes(found.key) ? `write \`${found.write}\`` : null
}
