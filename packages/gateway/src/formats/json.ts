/** Plain JSON, as configs and documents hold it. */
export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [key: string]: Json }
