// In packed packages this file is a copy of the gateway's: see scripts/package/pack.mjs.
export * from '../../gateway/bin/runtime.mjs'
