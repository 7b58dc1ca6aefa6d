/** Of a file whose bytes are sent in one request. */
export const maxFileBytes = 104_857_600

/** Of any file: the largest object of S3. `UPLOAD_MAX_BYTES` can be less. */
export const largestFileBytes = 5_497_558_138_880
