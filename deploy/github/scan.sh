#!/usr/bin/env bash
# The step of action.yml. Its inputs are the variables DRIFTD_….
set -euo pipefail

# DRIFTD_… also overrides settings of the configuration, so the inputs are unset before driftd runs.
paths=${DRIFTD_PATHS-} config=${DRIFTD_CONFIG_FILE-} live=${DRIFTD_LIVE-} fail_on=${DRIFTD_FAIL_ON:-any}
incomplete=${DRIFTD_ALLOW_INCOMPLETE-} comment=${DRIFTD_COMMENT-} key=${DRIFTD_COMMENT_KEY-} number=${DRIFTD_PULL_REQUEST-}
token=${GH_TOKEN-}
unset DRIFTD_PATHS DRIFTD_CONFIG_FILE DRIFTD_LIVE DRIFTD_FAIL_ON DRIFTD_ALLOW_INCOMPLETE DRIFTD_COMMENT DRIFTD_COMMENT_KEY \
	DRIFTD_PULL_REQUEST GH_TOKEN

fail() {
	echo "::error title=driftd::$1"
	exit 1
}

case $key in *[!A-Za-z0-9._-]*) fail "comment-key: letters, digits, dots, dashes and underscores only" ;; esac

out=$(mktemp -d "$RUNNER_TEMP/driftd.XXXXXX")

# Without a driftd on PATH, that of the commit of the action is built.
program=driftd
if ! command -v driftd >/dev/null; then
	command -v go >/dev/null || fail "there is neither driftd nor go on PATH: install one of them in an earlier step"
	program=$out/driftd
	(cd "$GITHUB_ACTION_PATH" && CGO_ENABLED=0 go build -trimpath -o "$out/" ./cmd/driftd ./cmd/driftd-helm)
fi

args=(scan --fail-on "$fail_on" --state-dir "$out/state" -o table --format "github=$out/annotations"
	--format "sarif=$out/drift.sarif" --format "comment=$out/comment.md")
if [[ -n $live ]]; then
	args+=(--live "$live")
fi
if [[ -n $config ]]; then
	args+=(--config "$config")
else
	args+=(--)
	none=true
	while IFS= read -r path; do
		if [[ -n $path ]]; then
			args+=("$path")
			none=false
		fi
	done <<<"$paths"
	[[ $none == false ]] || fail "paths: name a folder, or set config"
fi

# The runner carries out commands in the log, and the names of live objects are anybody's text.
stop=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$stop"
code=0
"$program" "${args[@]}" 2>&1 || code=$?
echo "::$stop::"

# Only a scan that ran has written its files.
if [[ $code != 1 ]]; then
	cat "$out/annotations"
	if [[ -n $key ]]; then
		{
			echo "<!-- driftd scan $key -->"
			tail -n +2 "$out/comment.md"
		} >"$out/keyed.md"
		mv "$out/keyed.md" "$out/comment.md"
	fi
	cat "$out/comment.md" >>"$GITHUB_STEP_SUMMARY"
	{
		echo "sarif=$out/drift.sarif"
		echo "comment=$out/comment.md"
	} >>"$GITHUB_OUTPUT"
fi
echo "exit-code=$code" >>"$GITHUB_OUTPUT"

# write_comment changes the comment of the run before, or writes one. Only that of an app counts: anybody can write the first line.
write_comment() {
	local comments="repos/$GITHUB_REPOSITORY/issues/$number/comments" first ids
	first=$(head -n 1 "$out/comment.md")
	ids=$(FIRST=$first gh api --paginate "$comments" \
		--jq '.[] | select(.user.type == "Bot" and (.body | startswith(env.FIRST))) | .id') || return
	if [[ -n $ids ]]; then
		gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/${ids%%$'\n'*}" -F "body=@$out/comment.md"
	else
		gh api --silent --method POST "$comments" -F "body=@$out/comment.md"
	fi
}

# The token of a pull request from a fork may not write: the result of the scan counts nevertheless.
if [[ $comment == true && -n $number && $code != 1 ]]; then
	export GH_TOKEN=$token
	write_comment || echo "::warning title=driftd::the comment could not be written: it needs the permission pull-requests write"
fi

if [[ $code == 3 ]]; then
	[[ $incomplete == true ]] || fail "something was not checked: see the summary; allow-incomplete lets the step pass"
	code=0
fi
exit "$code"
