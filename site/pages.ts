/** The one list of pages: the sidebar, the tables of docs/README.md and llms.txt are made of it. */

export interface PageEntry {
  /** A page, or a folder whose README stands before its other pages; from the root of the project. */
  path: string
  /** A description; starts in lower case, ends without a period. */
  about: string
}

interface PageGroup {
  title: string
  /** The result for a newcomer who reads the five pages of this group in order; groups without a path have none. */
  path?: string
  entries: readonly PageEntry[]
}

/** The first page of the docs, and of the site. */
export const HOME = 'docs/README.md'

export const PAGE_GROUPS: readonly PageGroup[] = [
  {
    title: 'I run models',
    path: 'One endpoint for all providers: keys for applications, failover, guards, token budgets',
    entries: [
      { path: 'docs/models/first-chat.md', about: 'from zero to an answer, with a mock and with a real model' },
      { path: 'docs/models/client-keys.md', about: 'your own keys for applications; the provider’s key stays secret' },
      { path: 'docs/models/failover.md', about: 'use another provider when one fails' },
      { path: 'docs/models/guards-and-budgets.md', about: 'mask private data, limit tokens for each key' },
      { path: 'docs/models/production.md', about: 'one config with all parts, and what to watch' },
    ],
  },
  {
    title: 'I run tools (MCP)',
    path: 'One endpoint for all MCP servers: fewer tools, rules for each tool, sign-in, sessions that survive',
    entries: [
      { path: 'docs/tools/first-tools.md', about: 'from zero to tools in your client' },
      { path: 'docs/mcp-tools.md', about: 'choose, rename and describe the tools that clients see' },
      { path: 'docs/tools/rules.md', about: 'rules over callers and tools' },
      { path: 'docs/mcp-oauth.md', about: 'let people sign in: tokens, challenge and discovery' },
      { path: 'docs/tools/production.md', about: 'replicas, sessions, limits, and what to watch' },
    ],
  },
  {
    title: 'I run traffic in Kubernetes',
    path: 'A Gateway API controller with statuses that say what is wrong, and policies for every route',
    entries: [
      { path: 'docs/install.md', about: 'Helm or kubectl: requirements, rights, upgrade, uninstall' },
      { path: 'docs/kubernetes/first-route.md', about: 'a Gateway with TLS, a route to a Service, weights' },
      { path: 'docs/kubernetes/policies.md', about: 'sign-in, limits and retries for a route' },
      { path: 'docs/kubernetes/models-and-tools.md', about: 'models and MCP servers behind the same Gateway' },
      { path: 'docs/kubernetes/production.md', about: 'replicas, resources, rights, and what to watch' },
    ],
  },
  {
    title: 'First steps',
    entries: [
      { path: 'docs/getting-started.md', about: 'proxy a service; validate, reload, read the log' },
      { path: 'examples/README.md', about: 'configs to copy, each with a command to try' },
      {
        path: 'docs/comparison.md',
        about: 'nginx, Envoy, agentgateway, LiteLLM, Kong, Traefik: what each does better',
      },
    ],
  },
  {
    title: 'Migrate',
    entries: [
      { path: 'docs/migrating.md', about: 'the steps, and a page for each gateway' },
      { path: 'docs/migrating/nginx.md', about: 'directives and their policies' },
      { path: 'docs/migrating/haproxy.md', about: 'frontends, rules, backends' },
      { path: 'docs/migrating/caddy.md', about: 'sites, directives, matchers' },
      { path: 'docs/migrating/ingress-nginx.md', about: 'annotations of ingress-nginx and their policies' },
      { path: 'docs/migrating/envoy.md', about: 'a static config, and the kinds of Envoy Gateway' },
      { path: 'docs/migrating/kong.md', about: 'services, consumers and plugins' },
      { path: 'docs/migrating/traefik.md', about: 'routers, middlewares and services' },
      { path: 'docs/migrating/litellm.md', about: 'model lists, fallbacks and keys' },
      { path: 'docs/migrating/agentgateway.md', about: 'names that differ, in the file and in resources' },
    ],
  },
  {
    title: 'Configure',
    entries: [
      { path: 'docs/config-file.md', about: 'the tree, variables, included files, errors, startup settings' },
      { path: 'docs/routing.md', about: 'hostnames, paths, precedence, weights, rejected paths' },
      { path: 'docs/policies.md', about: 'all policies, the order in which they run, how they merge' },
      { path: 'docs/shadow.md', about: 'try a policy on real traffic without an effect' },
      { path: 'docs/policies', about: 'policies by task, a page for each' },
      { path: 'docs/expressions.md', about: 'CEL: variables, functions, errors' },
      { path: 'docs/backends.md', about: 'destinations, DNS, pools, retries, HTTP versions, the forward proxy' },
      { path: 'docs/backends', about: 'the kinds of backends, a page for each' },
      { path: 'docs/tls.md', about: 'listeners, client certificates, passthrough, TLS to backends, rotation' },
      { path: 'docs/mesh.md', about: 'a workload of an Istio mesh: certificate, HBONE, failures, Kubernetes' },
      { path: 'docs/udp.md', about: 'datagrams: sessions, limits, drops, what to watch' },
      { path: 'docs/http.md', about: 'strict parsing, limits, HTTP/2, gRPC, WebSocket, CONNECT, forwarding headers' },
    ],
  },
  {
    title: 'Language models',
    entries: [
      {
        path: 'docs/model-routing.md',
        about: 'one endpoint for all models: names, patterns, virtual models, fallback',
      },
      { path: 'docs/llm.md', about: 'formats, streams, failover, aliases, token limits' },
      {
        path: 'docs/response-cache.md',
        about: 'answers of models from memory: keys, tenants, equal requests at the same time',
      },
      {
        path: 'docs/stores.md',
        about:
          'budgets that several gateways share in Redis, ledger and keys that they share in PostgreSQL, and what happens when these are down',
      },
      { path: 'docs/keys.md', about: 'API keys with models, limits and budgets, changed while the gateway runs' },
      {
        path: 'docs/model-endpoints.md',
        about: 'images, speech, moderations and rerank: which provider has them, prices, guards',
      },
      { path: 'docs/ledger.md', about: 'an entry of each model call with tokens and cost, and sums by key or model' },
      { path: 'docs/providers', about: 'a page for each provider: config, credential, fields, formats' },
      { path: 'docs/clients', about: 'SDKs, coding agents and MCP clients: what to set in each' },
      { path: 'docs/prompt-guards.md', about: 'mask or refuse prompts and answers: patterns, webhooks, vendors' },
      { path: 'docs/cloud-credentials.md', about: 'signatures and tokens for AWS, Azure and Google' },
      { path: 'docs/llm-matrix.md', about: 'which client was tested with which provider' },
    ],
  },
  {
    title: 'Tools (MCP)',
    entries: [
      {
        path: 'docs/mcp.md',
        about: 'many MCP servers behind one endpoint: targets, names, sessions, revisions, errors',
      },
      { path: 'docs/mcp-openapi.md', about: 'an HTTP API as an MCP target' },
      { path: 'docs/identity-providers/auth0.md', about: 'OAuth for MCP with Auth0' },
      { path: 'docs/identity-providers/keycloak.md', about: 'OAuth for MCP with Keycloak' },
      { path: 'docs/identity-providers/generic.md', about: 'OAuth for MCP with another identity provider' },
      { path: 'docs/mcp-conformance.md', about: 'the official suite and its results' },
    ],
  },
  {
    title: 'Kubernetes',
    entries: [
      { path: 'docs/cluster.md', about: 'controller and data planes, a first Gateway, policies' },
      { path: 'docs/helm-values.md', about: 'every value of the chart' },
      { path: 'docs/data-planes.md', about: 'what runs for a Gateway: parameters, overlays, ports, session key' },
      {
        path: 'docs/kubernetes/merged-gateways.md',
        about: 'several Gateways on one data plane, and what each can do to the others',
      },
      { path: 'docs/multi-cluster.md', about: 'ServiceImports as backends, statuses of several clusters' },
      { path: 'docs/kubernetes/delegation.md', about: 'parts of the paths for teams, with routes of their own' },
      {
        path: 'docs/experimental-kinds.md',
        about: 'XBackend and XTelemetryPolicy: destinations with TLS and sessions, tracing',
      },
      { path: 'docs/manifests.md', about: 'Gateway API resources without a cluster' },
      { path: 'docs/kinds/gwbackend.md', about: 'fields of GwBackend' },
      { path: 'docs/kinds/gwmodel.md', about: 'fields of GwModel' },
      { path: 'docs/kinds/gwpolicy.md', about: 'fields of GwPolicy' },
      { path: 'docs/kinds/gwfilter.md', about: 'fields of GwFilter' },
      { path: 'docs/kinds/gwparameters.md', about: 'fields of GwParameters' },
      { path: 'docs/troubleshooting.md', about: 'conditions and reasons of resources, and what to do about them' },
      { path: 'docs/conformance', about: 'conformance with the Gateway API' },
    ],
  },
  {
    title: 'Limits and sign-in',
    entries: [
      { path: 'docs/rate-limits-by-key.md', about: 'a budget of requests or tokens for each API key, user or address' },
      { path: 'docs/global-rate-limits.md', about: 'one rate limit service for all gateways' },
      { path: 'docs/forward-auth.md', about: 'sign-in for browsers with oauth2-proxy and similar services' },
      { path: 'docs/open-policy-agent.md', about: 'Open Policy Agent as external authorizer' },
      { path: 'docs/inference-pools.md', about: 'model servers with an endpoint picker' },
      { path: 'docs/external-processing.md', about: 'a service of yours that edits requests and responses' },
      { path: 'docs/envoy.md', about: 'how services written for Envoy work here, and what differs' },
    ],
  },
  {
    title: 'Operate',
    entries: [
      { path: 'docs/production.md', about: 'ways to run it, sizing, ports, limits, secrets, upgrades, alerts' },
      {
        path: 'docs/sizing.md',
        about: 'how much a worker, a machine and a cluster serve with keys, budgets and a ledger',
      },
      { path: 'docs/reload-and-shutdown.md', about: 'generations, drain, signals, readiness, workers' },
      { path: 'docs/logs-and-metrics.md', about: 'access log, levels, metrics, admin server' },
      { path: 'docs/ui.md', about: 'the web UI of the admin server' },
      { path: 'docs/opentelemetry.md', about: 'logs and metrics to an OTLP collector' },
      { path: 'docs/tracing.md', about: 'spans to a collector: Jaeger, Langfuse, Honeycomb' },
      { path: 'docs/footprint.md', about: 'memory and start time: where they go, and their limits' },
    ],
  },
  {
    title: 'Find out why',
    entries: [
      { path: 'docs/trace.md', about: 'watch how one request is decided, step by step' },
      { path: 'docs/admin-api.md', about: 'list, filter and stream past requests' },
      { path: 'docs/explain.md', about: 'why a request was refused, and what would have passed' },
      { path: 'docs/upstream-failures.md', about: 'every way a backend can fail a request, and how it shows' },
      { path: 'docs/errors.md', about: 'every status that the gateway itself sends' },
      { path: 'docs/testing-configs.md', about: 'test files for a config, run without a network' },
      { path: 'docs/backtest.md', about: 'recorded requests, decided by another config' },
      { path: 'docs/capsules.md', about: 'one recorded request in a file, to replay it anywhere' },
      { path: 'docs/import.md', about: 'turn the config of another gateway into a config, a report and a test file' },
      { path: 'docs/verified-reloads.md', about: 'reject a config whose tests fail, at start and at each reload' },
      {
        path: 'docs/rehearsals.md',
        about: 'let a share of the calls to a backend fail or wait, and see what clients get',
      },
      {
        path: 'docs/doctor.md',
        about: 'what is wrong around a config: ports, DNS, certificates, backends, keys, stores',
      },
      { path: 'docs/lint.md', about: 'find mistakes in a valid config: severities, comments, CI, manifests' },
      { path: 'docs/lint', about: 'a page for each check, with a config that trips the check' },
      { path: 'docs/porticoctl.md', about: 'the command line tool' },
    ],
  },
  {
    title: 'Reference',
    entries: [
      { path: 'docs/reference', about: 'every field of every block, generated from the schema' },
      { path: 'docs/environment.md', about: 'every environment variable' },
      { path: 'docs/versioning.md', about: 'what may change when, deprecations, platforms, support' },
      { path: 'docs/spec-names.md', about: 'names that the specification and other gateways use' },
      { path: 'docs/h2spec.md', about: 'results of the HTTP/2 conformance suite' },
      { path: 'bench/RESULTS.md', about: 'measured speed and memory' },
    ],
  },
  {
    title: 'Project',
    entries: [
      { path: 'CHANGELOG.md', about: 'what changed for users' },
      { path: 'ARCHITECTURE.md', about: 'how the program is built' },
      { path: 'CONTRIBUTING.md', about: 'commands, rules, worked examples' },
      { path: 'bench/README.md', about: 'how speed is measured' },
      { path: 'SECURITY.md', about: 'how to report a vulnerability' },
    ],
  },
]
