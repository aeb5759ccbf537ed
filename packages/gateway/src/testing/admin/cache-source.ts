import type { CacheSource } from '../../admin/caches/cache-api.ts'

/** A gateway without response caches. */
export const noCaches: CacheSource = {
  figures: () => Promise.resolve({ caches: [], silentWorkers: 0 }),
  purge: () => Promise.resolve({ purged: 0, isSharedPurged: false }),
}
