import {
  bool,
  bytes,
  duration,
  dyn,
  headers,
  int,
  listOf,
  number,
  present,
  string,
  struct,
  timestamp,
  value,
  type VariableType,
} from '@portico/cel/declare'

/** The phase in which an expression is evaluated; the phase decides which variables exist. */
export type ExpressionPhase =
  | 'process'
  | 'network'
  | 'connection'
  | 'start'
  | 'request'
  | 'llmRequest'
  | 'llmRoute'
  | 'guard'
  | 'guardResponse'
  | 'mcp'
  | 'backend'
  | 'responseHead'
  | 'response'
  | 'log'

const text = value(string)
const maybeText = value(string, { optional: true })
const count = value(int)
const maybeCount = value(int, { optional: true })

/** A number as a server sent it, integer or not. */
const maybeNumber = value(number, { optional: true })

const head = {
  method: text,
  uri: text,
  host: text,
  scheme: text,
  path: text,
  pathAndQuery: text,
  version: text,
  headers,
  startTime: value(timestamp),
}
/** An expression that reads one of these makes the route buffer the body. */
const body = { body: value(bytes), bodyPrefix: value(bytes) }

const peer = { address: text, port: count, rawAddress: text, rawPort: count }
/** The source before TLS, when the client cannot have presented a certificate. */
const networkSource = struct(peer)
const certificate = struct(
  {
    principal: text,
    subject: text,
    issuer: text,
    subjectAltNames: value(listOf(string)),
    serialNumber: text,
    fingerprint: text,
  },
  { optional: true },
)
/** The workload of the mesh that the certificate names. */
const identity = struct({ trustDomain: text, namespace: text, serviceAccount: text }, { optional: true })
const source = struct({ ...peer, certificate, identity })
const request = struct({ ...head, ...body })
const response = { code: count, headers }

const env = struct({ podName: text, namespace: text, gateway: text })

const proxy = struct({
  bind: maybeText,
  gateway: struct({ namespace: text, name: text }),
  listener: struct({ name: maybeText }),
  route: struct({ name: maybeText, rule: maybeText }),
})

/** Variables that policies have set by the time a request step runs. */
const found = {
  source,
  jwt: dyn,
  apiKey: dyn,
  basicAuth: struct({ username: text }, { optional: true }),
  metadata: dyn,
  extauthz: dyn,
  extproc: dyn,
  proxy,
  env,
}
const backend = struct({ name: maybeText, type: maybeText, protocol: maybeText })

/** The model call; present only when the backend is a model provider. */
const llm = struct(
  {
    streaming: value(bool),
    provider: text,
    requestModel: text,
    responseModel: maybeText,
    inputTokens: maybeCount,
    outputTokens: maybeCount,
    totalTokens: maybeCount,
    providerInputTokens: maybeCount,
    providerTotalTokens: maybeCount,
    cachedInputTokens: maybeCount,
    cacheCreationInputTokens: maybeCount,
    reasoningTokens: maybeCount,
    inputAudioTokens: maybeCount,
    outputAudioTokens: maybeCount,
    images: maybeCount,
    characters: maybeCount,
    audioSeconds: maybeNumber,
    searchUnits: maybeCount,
    serviceTier: maybeText,
    countTokens: maybeCount,
    estimated: value(bool),
    cost: maybeNumber,
    cacheStatus: maybeText,
    timeToFirstToken: value(duration, { optional: true }),
    timePerOutputToken: value(duration, { optional: true }),
  },
  { optional: true },
)

const mcpItem = struct({ name: text, target: text }, { optional: true })
/** The item of an MCP message: at most one of the four item variables is present. */
const mcp = {
  tool: mcpItem,
  prompt: mcpItem,
  resource: mcpItem,
  task: mcpItem,
  methodName: text,
  sessionId: maybeText,
  protocolVersion: maybeText,
}

/** Texts of a prompt or a response, for a prompt guard. */
const guard = {
  phase: text,
  text,
  texts: value(listOf(string)),
  roles: value(listOf(string)),
  request: struct({ headers }),
}

export const variablesByPhase: Record<ExpressionPhase, Readonly<Record<string, VariableType>>> = {
  // No client has connected yet.
  process: { env },
  // No HTTP bytes have been read yet.
  network: { source: networkSource },
  // A connection or UDP session without HTTP, whose route is known.
  connection: { source, proxy, env },
  // The raw request, before any policy.
  start: { request: struct(head), source },
  request: { ...found, request },
  // The body of a request to a language model, as the client sent it.
  llmRequest: { ...found, request, backend, llmRequest: present },
  // The choice of a model, before a provider is known. The name of the model is the one that the client sent.
  llmRoute: {
    ...found,
    request: struct(head),
    backend,
    llmRequest: present,
    llm: struct({ requestModel: text, promptTokens: count }),
  },
  // A call to a guard service, and the verdict that its response contains.
  guard,
  guardResponse: { ...guard, response: struct({ code: count, body: dyn }) },
  // One tool, prompt, resource or task of an MCP server; the message was read from the body.
  mcp: { ...found, request: struct(head), backend, mcp: struct(mcp) },
  backend: { ...found, request, backend },
  // The response body has not arrived yet.
  responseHead: { ...found, request, backend, response: struct(response) },
  response: { ...found, request, backend, llm, response: struct({ ...response, ...body }) },
  // The request has ended; its bodies are no longer available.
  log: {
    ...found,
    request: struct(head),
    backend,
    llm,
    mcp: struct({ ...mcp, target: maybeText, outcome: maybeText, errorCode: maybeNumber }, { optional: true }),
    response: struct({ ...response, grpcStatus: maybeCount }, { optional: true }),
  },
}
