import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually, metric, type Program, useConfigFile, useProgram } from '../packages/gateway/src/testing/process.ts'

/** Starts the program with one worker in the main thread, which `heap-probe.ts` watches. */
export async function useProbedProgram(t: TestContext, config: object): Promise<Program> {
  const own = { workers: 1, logging: { level: 'warn,request=off' } }
  const { file } = useConfigFile(t, { config: own, ...config })
  const probe = fileURLToPath(new URL('heap-probe.ts', import.meta.url))
  return useProgram(t, { args: ['-f', file], env: { NODE_OPTIONS: `--expose-gc --import=${probe}` } })
}

export interface LiveMemory {
  /** Returns the memory of the main thread after a garbage collection, on the heap and outside of the heap, in bytes. */
  heap: number
  resident: number
}

export async function liveMemory(program: Program): Promise<LiveMemory> {
  const known = reports(program).length
  program.child.kill('SIGWINCH')
  await eventually('the program told what it holds', () => reports(program).length > known)
  const { heapUsed = 0, external = 0 } = reports(program).at(-1) ?? {}
  return { heap: heapUsed + external, resident: await metric(program, 'process_resident_memory_bytes') }
}

function reports(program: Program): { heapUsed?: number; external?: number }[] {
  return [...program.stdout().matchAll(/^heap-probe (.*)\n/gm)].map(([, json = '{}']) => JSON.parse(json))
}
