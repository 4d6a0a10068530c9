// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// SignatureCheck checks a signature of a smart contract wallet, even if the wallet
/// is not deployed yet. It is never deployed itself: its creation code is passed to
/// eth_call, and what it "creates" is one byte, 1 for valid and 0 for invalid. All
/// state changes are limited to that call and discarded.
contract SignatureCheck {
    // The suffix of a signature that includes how to deploy its wallet (ERC-6492).
    bytes32 private constant WRAPPED = 0x6492649264926492649264926492649264926492649264926492649264926492;

    // The answer of a wallet for a valid signature (ERC-1271), as a whole word.
    bytes32 private constant YES = bytes32(bytes4(0x1626ba7e));

    constructor(address wallet, bytes32 digest, bytes memory signature) {
        bool good = check(wallet, digest, signature);
        assembly {
            mstore(0, good)
            return(31, 1)
        }
    }

    function check(address wallet, bytes32 digest, bytes memory signature) private returns (bool) {
        if (!wrapped(signature)) {
            return vouches(wallet, digest, signature);
        }
        assembly {
            mstore(signature, sub(mload(signature), 32)) // without the suffix
        }
        (address factory, bytes memory order, bytes memory inner) = abi.decode(signature, (address, bytes, bytes));
        if (vouches(wallet, digest, inner)) {
            return true;
        }
        // Not deployed yet, or not yet prepared.
        return send(factory, order) && vouches(wallet, digest, inner);
    }

    function wrapped(bytes memory signature) private pure returns (bool) {
        if (signature.length < 32) {
            return false;
        }
        bytes32 end;
        assembly {
            end := mload(add(signature, mload(signature)))
        }
        return end == WRAPPED;
    }

    /// Asks the wallet. At most one word of its answer is read, and an account
    /// without code has no answer.
    function vouches(address wallet, bytes32 digest, bytes memory signature) private view returns (bool) {
        if (wallet.code.length == 0) {
            return false;
        }
        bytes memory question = abi.encodeWithSelector(0x1626ba7e, digest, signature);
        bool ok;
        bytes32 answer;
        assembly {
            ok := staticcall(gas(), wallet, add(question, 32), mload(question), 0, 32)
            ok := and(ok, gt(returndatasize(), 31))
            answer := mload(0)
        }
        return ok && answer == YES;
    }

    function send(address target, bytes memory data) private returns (bool ok) {
        assembly {
            ok := call(gas(), target, 0, add(data, 32), mload(data), 0, 0)
        }
    }
}
