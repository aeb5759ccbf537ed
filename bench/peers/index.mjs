// Every proxy of the comparison, in the order they are measured. A new one is one file and one line here.
import { caddy } from './caddy.mjs'
import { haproxy } from './haproxy.mjs'
import { nginx } from './nginx.mjs'
import { portico } from './portico.mjs'

/**
 * @typedef {{ dir: string, port: number, readinessPort: number, origin: number, routes: number,
 *   protocol: 'http' | 'https' | 'h2c', certificate: { cert: string, key: string, both: string } | null }} Setup
 *   `routes` > 1: path prefixes /r0/ to /r<routes - 1>/, each its own route to the origin
 * @typedef {{ files: Record<string, string>, args: string[], env?: Record<string, string>, ready?: string }} Plan
 *   `files` are written into `setup.dir`; `ready` is a URL that gives 200, else the traffic port is asked
 * @typedef {{ name: string, many?: boolean, find: (options: { portico?: string }) => Found | null,
 *   plan: (setup: Setup) => Plan }} Peer `many`: can be set up with thousands of routes
 * @typedef {{ command: string, args?: string[], version: string }} Found
 */

/** @type {Peer[]} */
export const peers = [nginx, haproxy, portico, caddy]
