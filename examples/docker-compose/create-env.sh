#!/bin/sh
# Writes .env with fresh secrets for compose.yaml. Usage: create-env.sh DOMAIN EMAIL [FILE]
set -eu
domain=${1:?usage: create-env.sh DOMAIN EMAIL [FILE]}
email=${2:?usage: create-env.sh DOMAIN EMAIL [FILE]}
file=${3:-.env}
if [ -e "$file" ]; then
  echo "$file exists; its secrets are kept" >&2
  exit 1
fi
umask 077
cat > "$file" <<END
DOMAIN=$domain
BOOTSTRAP_EMAIL=$email
POSTGRES_PASSWORD=$(openssl rand -hex 24)
AWS_ACCESS_KEY_ID=atrium
AWS_SECRET_ACCESS_KEY=$(openssl rand -hex 24)
ENCRYPTION_KEYS=k1:$(openssl rand -base64 32)
END
echo "wrote $file: back it up, because stored secrets cannot be decrypted without it"
