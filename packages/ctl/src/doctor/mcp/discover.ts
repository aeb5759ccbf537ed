import type { McpClient, ResourcePlace } from './clients.ts'
import type { McpProbe, ProbeAnswer } from './probe.ts'

/** The first step of a client's discovery that fails. */
interface FailedStep {
  readonly step: 'initialize' | 'protected resource' | 'authorization server' | 'registration'
  readonly sent: string
  readonly came: string
  readonly change: string
}

export interface ClientVerdict {
  readonly client: string
  readonly title: string
  /** The result of a client's discovery; `open` means that the server needs no sign-in. */
  readonly verdict: 'ok' | 'open' | 'fails'
  /** A task for the person who sets up the client, although no step fails; empty otherwise. */
  readonly note: string
  readonly failed: FailedStep | null
}

/** Repeats how a client discovers the sign-in of an MCP server. It registers no client, and requests no token. */
export async function discover(client: McpClient, url: string, probe: McpProbe): Promise<ClientVerdict> {
  const { name, title } = client
  const fails = (failed: FailedStep): ClientVerdict => ({ client: name, title, verdict: 'fails', note: '', failed })
  const first = await probe.initialize(url)
  if (first.status >= 200 && first.status < 300) {
    const isMcp = first.json?.['result'] !== undefined || /event-stream/i.test(first.contentType)
    if (isMcp) return { client: name, title, verdict: 'open', note: '', failed: null }
    return fails(failedAt('initialize', first, 'The URL answers, but not as an MCP server: correct its path.'))
  }
  if (first.status !== 401) return fails(failedAt('initialize', first, initializeChange(first.status)))
  const resource = await findResource(client, url, { probe, challenge: first.challenge })
  if ('change' in resource) return fails(resource)
  const server = await findServer(resource.issuer, probe)
  if ('change' in server) return fails(server)
  if (server.canRegister) return { client: name, title, verdict: 'ok', note: '', failed: null }
  if (client.takesClientId) {
    const note = 'The authorization server registers no clients: enter a client id in the client.'
    return { client: name, title, verdict: 'ok', note, failed: null }
  }
  const change =
    'Turn dynamic client registration on at the identity provider, or let the gateway answer it: `provider` of `mcpAuthentication`.'
  const came = `${server.answer.came}, without registration_endpoint`
  return fails({ step: 'registration', sent: server.answer.sent, came, change })
}

function failedAt(step: FailedStep['step'], { sent, came }: ProbeAnswer, change: string): FailedStep {
  return { step, sent, came, change }
}

function initializeChange(status: number): string {
  switch (status) {
    case 0:
      return 'The server cannot be reached: correct the URL, or check DNS, port and certificate.'
    case 403:
      return 'Answer 401 with WWW-Authenticate to requests without a token, not 403: use `mcpAuthentication`.'
    case 404:
    case 405:
      return 'No MCP server is at this path, or it takes no POST: correct the path of the URL or the route.'
    default:
      return 'Expected 200, or 401 with WWW-Authenticate: look at the log of the gateway.'
  }
}

interface NamedIssuer {
  readonly issuer: string
}

async function findResource(
  { resourcePlaces }: McpClient,
  url: string,
  { probe, challenge }: { probe: McpProbe; challenge: string },
): Promise<NamedIssuer | FailedStep> {
  let last: FailedStep | null = null
  for (const place of resourcePlaces) {
    const at = resourceUrl(place, url, challenge)
    if (at === null) continue
    const answer = await probe.get(at)
    if (answer.status === 200 && answer.json !== null) return readResource(url, answer, answer.json)
    const change =
      place === 'header'
        ? 'The header WWW-Authenticate names a document that is not there: correct `resourceMetadata.resource`, or the proxy in front.'
        : 'Serve the document of RFC 9728 at this path, as JSON, without a token: the route must match it.'
    last = failedAt('protected resource', answer, change)
    // A client that gets the metadata URL from the `WWW-Authenticate` header tries no other URL.
    if (place === 'header') return last
  }
  return (
    last ?? {
      ...{ step: 'protected resource', sent: '', came: 'no document is named' },
      change: 'Answer 401 with WWW-Authenticate: Bearer resource_metadata="…".',
    }
  )
}

function resourceUrl(place: ResourcePlace, url: string, challenge: string): string | null {
  const { origin, pathname } = new URL(url)
  if (place === 'root') return `${origin}/.well-known/oauth-protected-resource`
  if (place === 'path') return `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`
  const [, quoted, bare] = /\bresource_metadata=(?:"([^"]*)"|([^\s,]+))/i.exec(challenge) ?? []
  return URL.parse(quoted ?? bare ?? '')?.href ?? null
}

function readResource(
  url: string,
  answer: ProbeAnswer,
  json: Readonly<Record<string, unknown>>,
): NamedIssuer | FailedStep {
  const { resource, authorization_servers: servers } = json
  const named = typeof resource === 'string' ? URL.parse(resource) : null
  const wanted = new URL(url)
  const isParent =
    named !== null &&
    named.origin === wanted.origin &&
    `${wanted.pathname}/`.startsWith(named.pathname.endsWith('/') ? named.pathname : `${named.pathname}/`)
  if (!isParent) {
    const came = `${answer.came}, with resource ${JSON.stringify(resource ?? null)}`
    const change = `\`resource\` must be ${url}, or a part of it: set \`resourceMetadata.resource\`, or let the proxy in front keep Host and scheme.`
    return { step: 'protected resource', sent: answer.sent, came, change }
  }
  const [issuer] = Array.isArray(servers) ? (servers as unknown[]) : []
  if (typeof issuer === 'string' && URL.parse(issuer) !== null) return { issuer }
  const came = `${answer.came}, without authorization_servers`
  return {
    step: 'protected resource',
    sent: answer.sent,
    came,
    change: 'Name the identity provider: `issuer` of `mcpAuthentication`.',
  }
}

interface AuthorizationServer {
  readonly canRegister: boolean
  readonly answer: ProbeAnswer
}

async function findServer(issuer: string, probe: McpProbe): Promise<AuthorizationServer | FailedStep> {
  let first: ProbeAnswer | null = null
  for (const url of serverUrls(issuer)) {
    const answer = await probe.get(url)
    first ??= answer
    if (answer.status === 200 && answer.json !== null) return readServer(issuer, answer, answer.json)
  }
  const { sent = '', came = 'nothing' } = first ?? {}
  const change =
    'The identity provider serves no metadata where clients look, which is common for issuers with a path: let the gateway serve them with `provider` of `mcpAuthentication`.'
  return { step: 'authorization server', sent, came: `${came}; the other paths have nothing either`, change }
}

/** Returns the metadata URLs of an issuer, in the order in which clients try them. */
function serverUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
  ]
}

function readServer(
  issuer: string,
  answer: ProbeAnswer,
  json: Readonly<Record<string, unknown>>,
): AuthorizationServer | FailedStep {
  const fails = (came: string, change: string): FailedStep => ({
    ...{ step: 'authorization server', sent: answer.sent, came: `${answer.came}, ${came}`, change },
  })
  for (const name of ['authorization_endpoint', 'token_endpoint']) {
    if (typeof json[name] === 'string' && URL.parse(json[name]) !== null) continue
    return fails(`without ${name}`, 'This is no metadata of an authorization server: correct `issuer`.')
  }
  const { issuer: said } = json
  if (typeof said !== 'string' || said.replace(/\/$/, '') !== issuer.replace(/\/$/, '')) {
    return fails(
      `with issuer ${JSON.stringify(said ?? null)}`,
      `Clients that check RFC 8414 expect ${issuer}: use the issuer exactly as the identity provider writes it.`,
    )
  }
  const methods = json['code_challenge_methods_supported']
  if (!Array.isArray(methods) || !methods.includes('S256')) {
    return fails(
      'without S256 in code_challenge_methods_supported',
      'Turn PKCE with S256 on at the identity provider; MCP clients refuse to sign in without it.',
    )
  }
  const canRegister =
    typeof json['registration_endpoint'] === 'string' || json['client_id_metadata_document_supported'] === true
  return { canRegister, answer }
}
