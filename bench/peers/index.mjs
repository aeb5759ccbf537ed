// All proxies of the comparison, in the order of measurement. A new one is one file and one line here.
import { agentgateway } from './agentgateway.mjs'
import { bifrost } from './bifrost.mjs'
import { caddy } from './caddy.mjs'
import { empty } from './empty.mjs'
import { envoy } from './envoy.mjs'
import { forwarder } from './forwarder.mjs'
import { haproxy } from './haproxy.mjs'
import { litellm } from './litellm.mjs'
import { mcpProxy } from './mcp-proxy.mjs'
import { nginx } from './nginx.mjs'
import { before, portico } from './portico.mjs'
import { portkey } from './portkey.mjs'
import { supergateway } from './supergateway.mjs'

/**
 * @typedef {{ dir: string, port: number, readinessPort: number, origin: number, services: number | null, routes: number,
 *   protocol: 'http' | 'https' | 'h2c' | 'h2', unbuffered: boolean, logs: boolean, certificate: { cert: string, key: string, both: string } | null,
 *   spend: 'embedded' | 'redis' | null, redis: number | null, stored: number | null, adminPort: number | null, jwks: string | null, provider: 'openai' | 'anthropic' | null, tools: boolean, found: Found, workers: number,
 *   keys: number | null, rules: import('../scenarios.mjs').Rules | null, extension: import('../scenarios.mjs').Extension | null }} Setup
 *   `routes` > 1: path prefixes /r0/ to /r<routes - 1>/, each its own route to the origin; `provider`: the origin is one of
 *   language models; `tools`: it is an MCP server, and to be spoken to as one; `services`: the port of services that are
 *   asked by gRPC, where `extension` needs them
 * @typedef {{ files: Record<string, string>, args: string[], env?: Record<string, string>, ready?: string,
 *   patienceMs?: number, makeKey?: () => Promise<Record<string, string>> }} Plan
 *   `files` are written into `setup.dir`; `ready` is a URL that gives 200, else the traffic port is asked; `patienceMs`: how long it may
 *   take to be ready; `makeKey` makes a key for the client once the proxy is ready, and gives the headers that carry the key
 * @typedef {{ name: string, variable?: string, chatPath?: string, many?: boolean, onlyNamed?: boolean, always?: boolean, find: (options: { portico?: string, before?: string }) => Found | null,
 *   plan: (setup: Setup) => Plan, headers?: (setup: { origin: number }) => Record<string, string> }} Peer
 *   `variable`: of the environment, with the path of its program; `chatPath`: where it takes chats, if not where others do; `many`: can be set up with thousands of routes; `onlyNamed`: only in scenarios that name it; `always`: there also when it
 *   is not asked for; `headers`: of every request
 * @typedef {{ command: string, args?: string[], version: string }} Found
 */

/** @type {Peer[]} */
export const peers = [
  nginx,
  haproxy,
  envoy,
  agentgateway,
  portico,
  before,
  caddy,
  empty,
  forwarder,
  portkey,
  bifrost,
  litellm,
  supergateway,
  mcpProxy,
]
